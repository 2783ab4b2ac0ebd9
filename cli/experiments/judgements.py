"""Tables of our schemes beside a judge's, printed."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.experiments.judges import Bounds, Judgement


def print_judgements(
    tables: "dict[str, list[Judgement]]", bounds: "Bounds", heads: dict[str, str], *, as_json: bool
) -> None:
    """One table for each place where ours flew.

    Args:
        tables: by the name of the place.
        bounds: how far ours may be from the judge's.
        heads: who judges, and by which delay: `judge` and `delay`.
        as_json: all as one JSON object.
    """
    from ccgym.experiments.judges import judgement_lines

    if as_json:
        print(json.dumps({where: [asdict(row) for row in rows] for where, rows in tables.items()}))
        return
    for where, rows in tables.items():
        print(f"ours in {where}:")
        print("\n".join(judgement_lines(rows, bounds, heads)))
