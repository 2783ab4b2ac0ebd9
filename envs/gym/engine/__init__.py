"""The engine under all environments: a batch of flows, its spaces, and the checks of actions and rewards."""
