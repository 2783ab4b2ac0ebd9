"""A Pantheon checkout as an export sees it: where a scheme's files go, and the list of schemes."""

from pathlib import Path

from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import MOST_TEXT_BYTES, naming, parse_yaml, read_bytes

# How Pantheon's plots draw exported schemes: the first colour that no scheme of the checkout has.
COLOURS = ("crimson", "teal", "navy", "sienna", "limegreen", "deeppink", "slateblue", "darkorange")
MARKER = "X"


class PantheonCheckout:
    """Paths and configuration of one checkout."""

    def __init__(self, root: Path) -> None:
        """Reads the checkout's configuration.

        Raises:
            InputError: `root` is no Pantheon checkout, or its src/config.yml cannot be read.
        """
        self.config = root / "src" / "config.yml"
        self.root = root
        for expected in (root / "src" / "wrappers", root / "third_party", self.config):
            if not expected.exists():
                raise InputError(f"{root} is no Pantheon checkout: {expected.relative_to(root)} is missing")
        self._text = _text(self.config)
        self.schemes = _schemes(self.config, self._text)

    def wrapper(self, name: str) -> Path:
        """The executable Pantheon runs for a scheme."""
        return self.root / "src" / "wrappers" / f"{name}.py"

    def programs(self, name: str) -> Path:
        """The folder of a scheme's own files."""
        return self.root / "third_party" / name

    def write_config_with(self, name: str, target: Path) -> None:
        """Writes the configuration, byte for byte, with one more scheme after the last.

        Raises:
            InputError: the file is laid out so that an entry cannot simply be added to its text.
        """
        used = {str(scheme.get("color")) for scheme in self.schemes.values()}
        colour = next((colour for colour in COLOURS if colour not in used), COLOURS[len(used) % len(COLOURS)])
        entry = {"name": name, "color": colour, "marker": MARKER}
        text = _with_entry(self._text, name, entry)
        if text is None or _parse(text) != {**_parse(self._text), "schemes": {**self.schemes, name: entry}}:
            raise InputError(
                f"{self.config}: its 'schemes' are not a list of indented entries: add '{name}' by hand"
            )
        with naming(target):
            target.write_bytes(text.encode())
        target.chmod(self.config.stat().st_mode & 0o777)


def _text(file: Path) -> str:
    """With its line ends."""
    try:
        return read_bytes(file, "the list of schemes", MOST_TEXT_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError(f"{file}: not a text file; expected YAML in UTF-8") from None


def _parse(text: str) -> dict[str, object]:
    parsed = parse_yaml(text, "config.yml")
    return parsed if isinstance(parsed, dict) else {}


def _schemes(file: Path, text: str) -> dict[str, dict[str, object]]:
    content = parse_yaml(text, str(file))
    schemes = content.get("schemes") if isinstance(content, dict) else None
    if not isinstance(schemes, dict) or not all(isinstance(scheme, dict) for scheme in schemes.values()):
        raise InputError(f"{file}: 'schemes' with one entry per scheme is missing")
    return schemes


def _with_entry(text: str, name: str, entry: dict[str, str]) -> str | None:
    """`text` with the entry after the last line of its `schemes` block; None if there is no such block."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if line.startswith("schemes:")), len(lines))
    indent, last = "", None
    for i in range(start + 1, len(lines)):
        content = lines[i].strip()
        if not content or content.startswith("#"):
            continue
        if not lines[i].startswith(" "):
            break
        indent = indent or lines[i][: len(lines[i]) - len(lines[i].lstrip())]
        last = i
    if last is None:
        return None
    newline = "\r\n" if lines[start].endswith("\r\n") else "\n"
    head = "".join(lines[: last + 1])
    key = name if parse_yaml(name, name) == name else f"'{name}'"
    added = [f"{indent}{key}:", *(f"{2 * indent}{field}: '{value}'" for field, value in entry.items())]
    return head.removesuffix(newline) + newline + newline.join(added) + newline + "".join(lines[last + 1 :])
