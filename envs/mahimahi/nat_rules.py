"""Removes the NAT rules of killed shells: mahimahi removes its rules only when it ends by itself."""

import os

from ccgym.envs.host.program_output import program_output

_NAT = ["iptables", "--table", "nat"]


def remove_nat_rules(shell_pid: int) -> None:
    """Removes what is left of the rules of the outermost shell `shell_pid`, which marks them by its id.

    Takes root; nothing happens without.
    """
    if os.geteuid() != 0:
        return
    marks = {f"{shell_pid:#x}", f"{shell_pid:#x}/0xffffffff"}
    for rule in program_output([*_NAT, "--list-rules"]).splitlines():
        verb, *words = rule.split()
        if verb == "-A" and marks.intersection(words):
            program_output([*_NAT, "--delete", *words])
