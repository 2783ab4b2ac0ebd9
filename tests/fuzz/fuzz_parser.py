"""Throws bytes at a parser, changed so that they reach ever more of its code.

    fuzz_parser.py PARSER [an option of libFuzzer]... CORPUS...

A finding is a file crash-*, timeout-* or oom-* in the current folder, and an exit code other than 0.
"""

import shutil
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ccgym", "yaml", "json", "csv", "zipfile"]):
    from parsers import PARSERS  # type: ignore[import-not-found]  # beside this script

PLACE = Path(__file__).parents[2] / "build" / "fuzz" / "files"
MOST_SECONDS, MOST_MEGABYTES = 60, 2000
"""Of one file, on a busy machine; the memory is the whole process's, with PyTorch in it."""


def main() -> None:
    """Until a finding, or until the options say that it is enough."""
    name, *options = sys.argv[1:]
    parser = PARSERS[name]
    folder = PLACE / name  # libFuzzer ends the process without a word: a temporary folder would stay
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parser.beside(folder)
    limits = [f"-timeout={MOST_SECONDS}", f"-rss_limit_mb={MOST_MEGABYTES}"]
    atheris.Setup([sys.argv[0], *limits, *options], lambda content: parser.check(content, folder))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
