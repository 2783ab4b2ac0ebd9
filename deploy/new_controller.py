"""The folder with which a controller of one's own begins.

NAME/                  in C                              in Python
  NAME.c, NAME.py      AIMD, to be replaced              the same
  test_NAME.c, ...     its test                          the same
  Makefile             builds NAME.so, tests it          -
  ccgym/controller.h   the interface of this version     -
  README.md            what to type                      the same
"""

import keyword
import re
from pathlib import Path

import ccgym.agents
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import naming

from .staging import Staging

HEADER = Path(ccgym.agents.__file__ or "").parent / "include" / "ccgym" / "controller.h"
_TEMPLATES = Path(__file__).resolve().parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_TAKEN_IN_C = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|"
    "register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|"
    "while|alignas|alignof|bool|constexpr|nullptr|thread_local|typeof|typeof_unqual|asm|linux|unix"
)
"""Keywords up to C23, and what gcc defines besides."""


def write_controller(name: str, language: str, parent: Path) -> Path:
    """Writes the folder `parent/name`, all of it or nothing; returns it.

    Raises:
        InputError: a bad name, or a place that is taken or does not exist.
    """
    taken = _TAKEN_IN_C.fullmatch(name) if language == "c" else keyword.iskeyword(_class_name(name))
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or taken:
        raise InputError(
            f"{excerpt(name)!r}: a lower-case name as in C would be right, no keyword, as my_aimd"
        )
    if not parent.is_dir():
        raise InputError(f"{excerpt(parent)}: no such folder")
    target = parent / name
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already: choose another name or --out")
    try:
        with naming(target), Staging() as staging:
            _write(staging.stage(target), name, language)
            staging.commit()
    except PermissionError as error:
        raise InputError(f"{error.filename}: may not be written") from None
    return target


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _write(folder: Path, name: str, language: str) -> None:
    folder.mkdir()
    for template in sorted((_TEMPLATES / language).iterdir()):
        text = template.read_text().replace("NAME", name).replace("CLASS", _class_name(name))
        (folder / template.stem.replace("NAME", name)).write_text(text)
    if language == "c":
        (folder / "ccgym").mkdir()
        (folder / "ccgym" / HEADER.name).write_bytes(HEADER.read_bytes())
