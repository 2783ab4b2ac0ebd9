"""The network: emulators, their virtual-time twin, and the Gymnasium environments over it.

Importing this package registers the environments: `gymnasium.make("ccgym/Path-v0", ...)`.
"""

from ccgym.envs.gym.registration import register_environments

register_environments()
