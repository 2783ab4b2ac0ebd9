"""Backends that fly through the tunnel, on this host or on two."""
