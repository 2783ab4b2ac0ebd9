"""The backends by name."""

from .backend import Backend
from .mahimahi_backend import MahimahiBackend
from .twin_backend import TwinBackend


def make_backend(name: str) -> Backend:
    """The backend of this name."""
    backends: list[Backend] = [TwinBackend(), MahimahiBackend()]
    return {backend.name: backend for backend in backends}[name]
