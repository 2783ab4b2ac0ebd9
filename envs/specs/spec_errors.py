"""Turns pydantic's findings into one line a user can act on: `uplink.loss: 1.5 is not within [0, 1]`."""

from reprlib import Repr
from typing import Any, get_args

from ccgym.envs.errors import did_you_mean, excerpt, one_line
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

MOST_KEY_CHARACTERS = 40
MOST_KNOWN = 10
MOST_SENTENCE_CHARACTERS = 200
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 3, 80, 80
"""Shortens the quotation of a value, which may be large, such as a list of lists."""
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text; put it in quotes",
    "is_instance_of": "the path of a file",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
    "tuple_type": "a list",
    "bool_type": "true or false",
}


def first_mistake(error: ValidationError, model: type[BaseModel]) -> str:
    """Returns the first mistake as `key: what is wrong`; an unknown key first, since it causes others."""
    details = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    where = ".".join(excerpt(part, MOST_KEY_CHARACTERS) for part in details["loc"])
    what = _sentence(details, model)
    return f"{where}: {what}" if where else what


def _sentence(details: ErrorDetails, model: type[BaseModel]) -> str:
    match details["type"]:
        case "extra_forbidden":
            return _unknown(str(details["loc"][-1]), _known_keys(model, details["loc"][:-1]))
        case "missing":
            return "is missing"
        case "value_error":
            return one_line(str(details["ctx"]["error"]), MOST_SENTENCE_CHARACTERS)
        case "literal_error":
            return f"{_given(details)} is not one of {details['ctx']['expected']}"
        case "too_long":
            return f"{_given(details)} {_length(details)} {details['ctx']['max_length']} at most"
        case "too_short":
            return f"{_given(details)} {_length(details)} {details['ctx']['min_length']} or more"
        case kind if kind in _EXPECTED:
            return f"{_given(details)} is not {_EXPECTED[kind]}"
    return f"{_given(details)}: {details['msg'][0].lower()}{details['msg'][1:]}"


def _length(details: ErrorDetails) -> str:
    return f"has {details['ctx']['actual_length']} items, should have"


def _unknown(key: str, known: list[str]) -> str:
    more = ", ..." if len(known) > MOST_KNOWN else ""
    return f"unknown key; known: {', '.join(known[:MOST_KNOWN])}{more}{did_you_mean(key, known)}"


def _given(details: ErrorDetails) -> str:
    return excerpt(_SHORT.repr(details["input"]))


def _known_keys(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    for part in path:
        if part in model.model_fields:  # else an item of a list, or a key of a mapping
            model = _model_within(model.model_fields[str(part)].annotation) or model
    return list(model.model_fields)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    """The model of a field, also if the field is optional or a union; None if it has none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_within, get_args(annotation))), None)
