"""The backends by name."""

from ccgym.evaluation.backends.tunnelled.mahimahi_tunnel_backend import MahimahiTunnelBackend
from ccgym.evaluation.backends.tunnelled.remote_backend import RemoteBackend

from .backend import Backend
from .mahimahi_backend import MahimahiBackend
from .twin_backend import TwinBackend


def make_backend(name: str, tunnel: bool = False) -> Backend:
    """Returns the backend of this name, with or without tunnels."""
    mahimahi = MahimahiTunnelBackend() if tunnel else MahimahiBackend()
    backends: list[Backend] = [TwinBackend(), mahimahi, RemoteBackend()]
    return {backend.name: backend for backend in backends}[name]
