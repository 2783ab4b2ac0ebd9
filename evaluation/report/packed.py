"""Compressed parts of a page, which the browser's DecompressionStream unpacks when they are needed."""

import base64
import gzip
import json
from functools import cache
from typing import Any

from plotly.offline import get_plotlyjs

_LEVEL = 9


def packed_text(text: str) -> str:
    """Any text, compressed and encoded for a script element."""
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


def packed_json(content: Any) -> str:
    """The same for a JSON value."""
    return packed_text(json.dumps(content, separators=(",", ":"), allow_nan=False))


@cache
def packed_plotly() -> str:
    """plotly.js, packed; computed once, because packing takes a fifth of a second."""
    return packed_text(get_plotlyjs())
