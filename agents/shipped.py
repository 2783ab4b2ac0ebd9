"""The shipped policies by name."""

from pathlib import Path


def shipped_policies() -> dict[str, Path]:
    """The files of the shipped policies by name."""
    return {file.stem: file for file in sorted((Path(__file__).parent / "policies").glob("*.safetensors"))}


def policy_path(name_or_file: str) -> Path:
    """The file of a shipped policy, such as `indigo2`; any other argument is a path already."""
    shipped = Path(__file__).parent / "policies" / f"{name_or_file}.safetensors"
    return shipped if shipped.is_file() else Path(name_or_file)
