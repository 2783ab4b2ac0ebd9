"""Backends that run through the tunnel, on this host or on two."""
