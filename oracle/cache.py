"""Search results on disk, found again by the emulator's content and the code that searched.

One small JSON file per result under $XDG_CACHE_HOME/ccgym/oracle (~/.cache/ccgym/oracle). A changed spec,
trace file, search, metric, rendering of specs or twin has another key, so an entry is never wrong, only
unused.
"""

import hashlib
import json
import tempfile
from functools import cache
from pathlib import Path

from ccgym.envs import _core
from ccgym.envs.host.user_cache import user_cache
from ccgym.envs.logs import flow_metrics, link_log
from ccgym.envs.specs import emulators
from ccgym.envs.specs.emulators import EmulatorSpec


def load(spec: EmulatorSpec, search: Path) -> dict[str, float] | None:
    """What the code in the file `search` found for `spec`; an unreadable entry counts as nothing."""
    try:
        entry: dict[str, float] = json.loads(_file(spec, search).read_text())
    except (OSError, ValueError):
        return None
    return entry


def store(spec: EmulatorSpec, search: Path, result: dict[str, float]) -> None:
    """Keeps a result. Where the cache cannot be written, the next run searches again."""
    file = _file(spec, search)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".partial", delete=False) as stream:
            json.dump(result, stream)
        Path(stream.name).replace(file)
    except OSError:
        return


def _file(spec: EmulatorSpec, search: Path) -> Path:
    return user_cache("oracle") / f"{_key(spec, search)}.json"


def _key(spec: EmulatorSpec, search: Path) -> str:
    digest = hashlib.sha256(_code_version(search).encode())
    digest.update(spec.model_dump_json(exclude={"name"}).encode())
    for link in (spec.uplink, spec.downlink):
        if link.trace is not None:
            digest.update(hashlib.sha256(link.trace.read_bytes()).digest())
    return digest.hexdigest()


@cache
def _code_version(search: Path) -> str:
    specs = sorted(Path(emulators.__file__).parent.glob("*.py"))
    files = [search, Path(_core.__file__ or ""), Path(flow_metrics.__file__), Path(link_log.__file__), *specs]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
