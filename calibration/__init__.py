"""From measurements of a path to the emulator that replicates it."""
