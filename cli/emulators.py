"""`ccgym emulators`: the emulators that ship with the project, by group, with their parameters."""

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.envs.emulators import LinkSpec, NamedEmulator


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "emulators",
        help="list the emulators, by group",
        description="Lists the emulators that --emulators knows: group/NAME, one-way delay in ms, uplink and "
        "downlink (rate in Mbit/s of 1500-byte packets or trace file, loss per packet, queue and its limit). "
        "--emulators takes groups, group/NAMEs and file:PATH, separated by commas.",
    )
    parser.add_argument("--json", action="store_true", help="print every parameter as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the list."""
    from ccgym.envs.emulators import emulator_groups

    groups = emulator_groups()
    if args.json:
        listed = {name: [_as_json(emulator) for emulator in group] for name, group in groups.items()}
        print(json.dumps({"groups": listed}))
        return 0
    width = max(len(emulator.label) for group in groups.values() for emulator in group)
    for group in groups.values():
        for emulator in group:
            print(_line(emulator, width))
    return 0


def _as_json(emulator: "NamedEmulator") -> dict[str, object]:
    return {"label": emulator.label, **emulator.spec.model_dump(mode="json", exclude_none=True)}


def _line(emulator: "NamedEmulator", width: int) -> str:
    spec = emulator.spec
    back = "" if spec.downlink == spec.uplink.mirrored() else f"; downlink {_link(spec.downlink)}"
    return f"{emulator.label:{width}}  {spec.delay_ms:3d} ms  {_link(spec.uplink)}{back}"


def _link(link: "LinkSpec") -> str:
    parts = [f"trace {link.trace}" if link.trace else f"{link.rate_mbps:g} Mbit/s"]
    if link.arrivals == "poisson":
        parts.append(f"poisson (seed {link.seed})")
    if link.loss:
        parts.append(f"loss {100 * link.loss:g} %")
    limits = [f"{limit} {unit}" for unit in ("packets", "bytes") if (limit := getattr(link, unit))]
    parts.append(" ".join([link.queue, *limits]))
    return ", ".join(parts)
