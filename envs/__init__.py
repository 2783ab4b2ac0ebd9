"""The network: emulators, their virtual-time twin, and the Gymnasium environments over it."""
