"""The figures of the documentation: `etc/docs_figures.py` draws each that a page shows."""

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from ccgym.tests.scripts import load_script

from .pages import DOCS, PAGES

QUICK = ("twin", "sharing", "emulators", "features", "metrics")
"""Those drawn in seconds. The others run many links, or train."""
OF_CONTENT = re.compile(r"\b[a-z]?[0-9a-f]{10}\b")
"""Identifiers that are made of what they identify, the last bit included."""
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
CLOSE_PT = 0.5
"""Processors differ in the last bit of a logarithm; a figure that is stale differs by more."""


@pytest.fixture(scope="module")
def docs_figures() -> ModuleType:
    return load_script("docs_figures")


@pytest.mark.parametrize("name", QUICK)
def test_a_figure_is_drawn(
    name: str, docs_figures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_figures, "FOLDER", tmp_path)
    docs_figures.main([name])
    drawn, shown = ((folder / f"{name}.svg").read_text() for folder in (tmp_path, DOCS / "figures"))
    made_by = re.compile(r"Matplotlib v[\d.]+")
    assert made_by.findall(drawn)
    if made_by.findall(drawn) == made_by.findall(shown):  # another version lays out otherwise
        drawn, shown = (OF_CONTENT.sub("", text) for text in (drawn, shown))
        assert NUMBER.split(drawn) == NUMBER.split(shown)
        here, there = (np.array(NUMBER.findall(text), dtype=float) for text in (drawn, shown))
        np.testing.assert_allclose(here, there, atol=CLOSE_PT)


def test_what_draws_a_figure_stands_below_it(docs_figures: ModuleType) -> None:
    known = {*docs_figures.PLOTS, *docs_figures.SCREENSHOTS}
    text = "".join(page.read_text() for page in PAGES)
    assert set(re.findall(r"etc/docs_figures\.py (\w+)`", text)) == known
    for name in known:
        assert re.search(rf"figures/{name}\.(?:svg|webp)\)\n\n\*[^\n]*docs_figures\.py {name}`", text), name
