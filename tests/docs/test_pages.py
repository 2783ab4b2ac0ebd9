"""The documentation: the site builds, every page is reached, and what the pages say works as printed."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .pages import DOCS, PAGES, ROOT, blocks, run

RUN = [page for page in PAGES if any(block.takes_part for block in blocks(page))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_says_works_as_printed(page: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.title).write_text(block.text)
        elif block.takes_part:
            run(block.text, tmp_path)


def test_the_environments_of_the_readme_are_made(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(ROOT / "README.md") if block.title == "paths.py")
    (tmp_path / "paths.py").write_text(f"{example.text}\nprint(env.reset(), envs.reset())\n")
    assert "array" in run("python paths.py", tmp_path)


HOW_TO = [page for page in sorted(DOCS.glob("how_to/*.md")) if "Files touched: " in page.read_text()]
NUMBERS = {"one of your own, none of ours.": 1, "three.": 3, "four.": 4, "five.": 5}


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_page_names_as_many_files_as_it_says(page: Path) -> None:
    (claim,) = re.findall(r"Files touched: (one of your own, none of ours\.|\w+\.)", page.read_text())
    own = [block for block in blocks(page) if block.title and block.title.endswith((".py", "mine.yaml"))]
    listed = re.findall(r"^\d\. `([^`]+)`", page.read_text(), re.M)
    files = own if claim.startswith("one") else [*listed, *(path for path in listed if "{hh,cc}" in path)]
    assert len(files) == NUMBERS[claim]


def test_the_table_of_what_can_be_added_says_what_the_pages_say() -> None:
    index = (DOCS / "how_to" / "index.md").read_text()
    rows = re.findall(r"^\| .* \| (\w+).* \| \[.*\]\((\w+\.md)", index, re.M)
    counts = {(page, word) for word, page in rows if page != "controller.md" or word != "one"}
    pages = {(page.name, re.findall(r"Files touched: (\w+)", page.read_text())[0]) for page in HOW_TO}
    assert counts == pages


def build(config: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does. With --quiet mkdocs does not count what --strict would refuse."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with --strict: a link that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(("link", "code"), [("other.md", 0), ("nowhere.md", 1), ("other.md#nowhere", 1)])
def test_a_link_that_leads_nowhere_ends_the_build(link: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Start\n\n[a page]({link})\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nplugins: []\nhooks: []\n")
    assert build(config, tmp_path / "site").returncode == code


def test_make_docs_builds_as_the_tests_do() -> None:
    (command,) = re.findall(r"mkdocs build (.*)", (ROOT / "Makefile").read_text())
    assert command == "--strict"


class Links(HTMLParser):
    """The targets of the links in a page's text; the navigation beside it has every page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.page, self.targets, self.in_text = page, set[Path](), False
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of `<a href="...">`."""
        self.in_text = self.in_text or tag == "article"
        href = dict(attrs).get("href") if tag == "a" and self.in_text else None
        if href and not href.startswith(("http", "#", "mailto:")):
            self.targets.add((self.page.parent / href.partition("#")[0]).resolve())

    def handle_endtag(self, tag: str) -> None:
        """The text ends."""
        self.in_text = self.in_text and tag != "article"


def test_every_page_is_reached_from_the_start_page(site: Path) -> None:
    reached, to_visit = set[Path](), {site / "index.html"}
    while to_visit:
        page = to_visit.pop()
        reached.add(page)
        to_visit |= {target for target in Links(page).targets if target.suffix == ".html"} - reached
    pages = {site / page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}
    assert pages <= reached


def test_the_page_of_tutorials_shows_the_scripts_themselves(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "tutorials.html").read_text())
    assert "--8" not in text
    assert "optimiser.zero_grad()" in text


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        assert not re.search(
            r'<(?:script|img)[^>]+src="http|<link[^>]+rel="stylesheet"[^>]+http', page.read_text()
        ), page
