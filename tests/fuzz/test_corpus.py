"""Replays the corpus of the parsers in Python, from which `make fuzz` begins."""

from pathlib import Path

import pytest

from .parsers import CORPUS, PARSERS


@pytest.mark.parametrize("name", PARSERS)
def test_every_file_of_the_corpus_is_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    parser = PARSERS[name]
    parser.beside(tmp_path)
    examples = sorted((CORPUS / name).iterdir())
    assert any(example.name == "whole" for example in examples)
    for example in examples:
        parser.check(example.read_bytes(), tmp_path)
        if example.name == "whole":
            parser.read(tmp_path)


def test_every_corpus_has_its_parser() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == PARSERS.keys()
