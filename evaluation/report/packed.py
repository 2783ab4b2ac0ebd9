"""What a page holds until it is asked for: compressed, for the browser's own DecompressionStream."""

import base64
import gzip
import json
from functools import cache
from typing import Any

from plotly.offline import get_plotlyjs

_LEVEL = 9


def packed_text(text: str) -> str:
    """Any text, fit to stand in a script element."""
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


def packed_json(content: Any) -> str:
    """The same of what JSON can say."""
    return packed_text(json.dumps(content, separators=(",", ":"), allow_nan=False))


@cache
def packed_plotly() -> str:
    """What draws the figures, the same in every page: it takes a fifth of a second."""
    return packed_text(get_plotlyjs())
