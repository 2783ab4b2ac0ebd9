"""The trained policies that come along, by name."""

from pathlib import Path


def shipped_policies() -> dict[str, Path]:
    """Their files, by name."""
    return {file.stem: file for file in sorted((Path(__file__).parent / "policies").glob("*.safetensors"))}


def policy_path(name_or_file: str) -> Path:
    """`indigo2` means the policy of that name that ships; anything else is a path."""
    shipped = Path(__file__).parent / "policies" / f"{name_or_file}.safetensors"
    return shipped if shipped.is_file() else Path(name_or_file)
