"""Keys of a spec for the parameters of queues, besides limits, taken from the twin's table of queues."""

from typing import Annotated, Any, TypeVar

from ccgym.envs import _core
from pydantic import create_model

from .spec_fields import QUEUES, SpecModel, plain, within

QUEUE_KEYS = {key.name: key for keys in QUEUES.values() for key in keys}
"""Parameters by name. One that queues share, such as `ecn`, has the same meaning and bounds in all."""
_Model = TypeVar("_Model", bound=SpecModel)


def with_queue_keys(model: type[_Model]) -> type[_Model]:
    """Returns the model with a key for each parameter of any queue, after its own keys; None: not given.

    So only the queue's class in C++ names its parameters. Type checkers do not see these keys: they are given
    as a mapping.
    """
    fields: dict[str, Any] = {name: (_field(key) | None, None) for name, key in QUEUE_KEYS.items()}
    return create_model(
        model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **fields
    )


def _field(key: _core.QueueKey) -> Any:
    bounds = within(plain(key.least), plain(key.most))
    match key.value:
        case _core.QueueValue.flag:
            return bool
        case _core.QueueValue.whole:
            return Annotated[int, bounds]
    return Annotated[float, bounds]
