"""`ccgym emulators`: the emulators that ship with the project, by group, with their parameters."""

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, NamedEmulator

_REST = ("timing", "nesting", "once", "delay_steps", "delay_walk", "flows", "cross_traffic")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "emulators",
        help="list the emulators, by group",
        description="Lists the emulators that --emulators knows: group/NAME, one-way delay in ms, uplink and "
        "downlink (rate in Mbit/s of 1500-byte packets or trace file, loss per packet, queue and its limit). "
        "--emulators takes groups, group/NAMEs, file:PATH, random:N[:SEED], random:train:N, "
        "random:validation:N and all, separated by commas.",
    )
    parser.add_argument("--json", action="store_true", help="print every parameter as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the list."""
    from ccgym.envs.specs.emulators import emulator_groups

    groups = emulator_groups()
    if args.json:
        listed = {name: [_as_json(emulator) for emulator in group] for name, group in groups.items()}
        print(json.dumps({"groups": listed}))
        return 0
    width = max(len(emulator.label) for group in groups.values() for emulator in group)
    for name, group in groups.items():
        print(_heading(name, group))
        for emulator in group:
            print(_line(emulator, width))
    return 0


def _heading(name: str, group: "list[NamedEmulator]") -> str:
    """The group's split, and the shipped policies that were trained or validated on the group."""
    seen = [f"{policy}: {how}" for policy, how in _seen_by(group).items()]
    split = group[0].split.value if group[0].split else "none"
    return f"# {name}: split {split}" + (f"; seen by {', '.join(seen)}" if seen else "")


def _seen_by(group: "list[NamedEmulator]") -> dict[str, str]:
    """The shipped policies that have seen any of the emulators, each with "train" or "validation"."""
    from ccgym.agents.seen_links import read_seen_links
    from ccgym.agents.shipped import shipped_policies
    from ccgym.envs.errors import InputError
    from ccgym.envs.specs.digest import spec_digest

    try:
        digests = [spec_digest(emulator.spec) for emulator in group]
    except InputError:  # its traces are not on this machine
        return {}
    policies = {name: read_seen_links(file) for name, file in shipped_policies().items()}
    seen = {name: {known.how(digest) for digest in digests} for name, known in policies.items() if known}
    return {
        name: next(how for how in ("train", "validation") if how in answers)
        for name, answers in seen.items()
        if answers & {"train", "validation"}
    }


def _as_json(emulator: "NamedEmulator") -> dict[str, object]:
    split = emulator.split.value if emulator.split else None
    spec = emulator.spec.model_dump(mode="json", exclude_none=True)
    return {"label": emulator.label, "split": split, **spec}


def _line(emulator: "NamedEmulator", width: int) -> str:
    spec = emulator.spec
    parts = [f"{spec.delay_ms:3g} ms  {_link(spec.uplink)}"]
    if spec.downlink != spec.uplink.mirrored():
        parts.append(f"downlink {_link(spec.downlink)}")
    parts += [f"{key} {_value(spec, key)}" for key in _REST if key in spec.model_fields_set]
    return f"{emulator.label:{width}}  {'; '.join(parts)}"


def _link(link: "LinkSpec") -> str:
    parts = [f"trace {link.trace}" if link.trace else _rate(link)]
    if link.arrivals != "constant":
        parts.append(link.arrivals + ("" if link.seed is None else f" (seed {link.seed})"))
    parts += [f"{key} {_value(link, key)}" for key in ("rate_steps", "rate_walk") if getattr(link, key)]
    if link.loss:
        parts.append(f"loss {100 * link.loss:g} %")
    if link.onoff:
        parts.append(f"on {link.onoff.mean_on_s:g} s, off {link.onoff.mean_off_s:g} s")
    limits = [f"{limit} {unit}" for unit in ("packets", "bytes") if (limit := getattr(link, unit))]
    parts.append(" ".join([link.queue, *limits]))
    return ", ".join(parts)


def _rate(link: "LinkSpec") -> str:
    rates = [link.rate_mbps] if link.rates_mbps is None else link.rates_mbps
    return f"{'/'.join(f'{rate:g}' for rate in rates)} Mbit/s"


def _value(spec: "EmulatorSpec | LinkSpec", key: str) -> str:
    return json.dumps(spec.model_dump(mode="json", include={key}, exclude_none=True)[key])
