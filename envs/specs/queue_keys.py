"""What a spec may give a queue beyond its limits: the parameters of the twin's table of queues, as keys."""

from typing import Annotated, Any, TypeVar

from ccgym.envs import _core
from pydantic import create_model

from .spec_fields import QUEUES, SpecModel, plain, within

QUEUE_KEYS = {key.name: key for keys in QUEUES.values() for key in keys}
"""By name. Queues that share one, as `ecn`, have it in the same sense and within the same bounds."""
_Model = TypeVar("_Model", bound=SpecModel)


def with_queue_keys(model: type[_Model]) -> type[_Model]:
    """Returns the model with a key for each parameter of some queue, behind its own; None: it is not given.

    So the class of a queue in C++ is the one place that names what it takes. A type checker does not see
    these keys: they are given as a mapping.
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
