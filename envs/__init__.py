"""The network: emulators, their virtual-time twin, and the Gymnasium environments over it.

Importing this package registers the environments: `gymnasium.make("ccgym/Path-v0", ...)`.
"""

from .registration import register_when_gymnasium_is_loaded

register_when_gymnasium_is_loaded()
