"""What a page holds until it is asked for: compressed, for the browser's own DecompressionStream."""

import base64
import gzip
import json
from typing import Any

_LEVEL = 9


def packed_text(text: str) -> str:
    """Any text, fit to stand in a script element."""
    return base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()


def packed_json(content: Any) -> str:
    """The same of what JSON can say."""
    return packed_text(json.dumps(content, separators=(",", ":"), allow_nan=False))
