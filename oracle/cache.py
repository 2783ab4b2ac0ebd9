"""Search results on disk; the key is the emulator's content and the code of the search.

One small JSON file per result under $XDG_CACHE_HOME/ccgym/oracle (~/.cache/ccgym/oracle). A changed spec,
trace file, search, metric, rendering of specs or twin has another key, so an entry is never wrong, only
unused.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import TypeVar

from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.host.user_cache import user_cache
from ccgym.envs.logs import flow_metrics, link_log
from ccgym.envs.outside_files import MOST_TEXT_BYTES, make_folder, read_bytes, replace_file, sha256_of
from ccgym.envs.specs import emulators
from ccgym.envs.specs.emulators import EmulatorSpec
from pydantic import BaseModel

Result = TypeVar("Result", bound=BaseModel)


def load(spec: EmulatorSpec, search: Path, kind: type[Result]) -> Result | None:
    """The result that the code in the file `search` found for `spec`; a damaged entry counts as none."""
    try:
        return kind.model_validate_json(read_bytes(_file(spec, search), "the result", MOST_TEXT_BYTES))
    except ValueError:
        return None


def store(spec: EmulatorSpec, search: Path, result: BaseModel) -> None:
    """Stores a result. If the cache cannot be written, the next run searches again."""
    file = _file(spec, search)
    try:
        make_folder(file.parent)
        replace_file(file, lambda fresh: fresh.write_text(result.model_dump_json()))
    except InputError:
        return


def _file(spec: EmulatorSpec, search: Path) -> Path:
    return user_cache("oracle") / f"{_key(spec, search)}.json"


def _key(spec: EmulatorSpec, search: Path) -> str:
    digest = hashlib.sha256(_code_version(search).encode())
    digest.update(spec.model_dump_json(exclude={"name"}).encode())
    for link in (spec.uplink, spec.downlink):
        if link.trace is not None:
            digest.update(sha256_of(link.trace, "the trace").encode())
    return digest.hexdigest()


@cache
def _code_version(search: Path) -> str:
    specs = sorted(Path(emulators.__file__).parent.glob("*.py"))
    files = [search, Path(_core.__file__ or ""), Path(flow_metrics.__file__), Path(link_log.__file__), *specs]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
