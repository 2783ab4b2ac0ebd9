"""What a user can get wrong: one line on stderr, exit code 2."""

import subprocess
from pathlib import Path

import pytest

from .endpoint_programs import PROGRAMS, RECEIVER, SENDER, free_port, receiver, run_sender

TUNNEL = str(PROGRAMS / "ccgym-tunnel")


def complaint(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_port_in_use_is_named() -> None:
    port = free_port()
    with receiver(port):
        assert complaint([RECEIVER, str(port)]) == (
            f"ccgym-receiver: port {port} is in use: choose another or stop what listens there\n"
        )


@pytest.mark.parametrize("port", ["0", "65536", "-5", "http", ""])
def test_a_bad_port_is_named(port: str) -> None:
    for argv in ([RECEIVER, port], [SENDER, "127.0.0.1", port, "--scheme", "copa"]):
        assert f"port '{port}'" in complaint(argv)


@pytest.mark.parametrize("odd", ["a\nb", "\x1b[31mred", "é" * 5000, "\x7f\r\x08", "x" * 100_000])
def test_what_is_quoted_of_an_argument_is_short_and_steers_no_terminal(odd: str) -> None:
    for argv in (
        [RECEIVER, odd],
        [RECEIVER, f"--{odd}"],
        [RECEIVER, "5000", "--bind", odd],
        [RECEIVER, "5000", "--secret", odd],
        [SENDER, "127.0.0.1", "5000", "--scheme", odd],
        [SENDER, "127.0.0.1", "5000", "--scheme", f"policy:{odd}"],
        [TUNNEL, "server", "--compatible", "--mtu", odd],
        [TUNNEL, "client", "--compatible", odd, "5000"],
    ):
        said = complaint(argv).removesuffix("\n")
        assert len(said.encode()) <= 300
        assert all(letter >= " " and letter != "\x7f" for letter in said)


@pytest.mark.parametrize("address", ["example.org", "300.1.1.1", "fe80:::1"])
def test_a_bad_address_is_named(address: str) -> None:
    assert f"'{address}'" in complaint([SENDER, address, "5000", "--scheme", "copa"])


def test_an_unknown_scheme_lists_the_known() -> None:
    said = complaint([SENDER, "127.0.0.1", "5000", "--scheme", "cobra"])
    assert "'cobra'" in said
    assert all(known in said for known in ("copa", "fixed", "policy", "reno"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--scheme", "copa"], "--scheme does not go with --gym: the gym decides"),
        (["--features", "vision"], "unknown feature set 'vision': known are indigo, scale_free, aurora"),
        (["--actions", "jump"], "unknown action set 'jump': known are indigo, log_window, rate"),
    ],
)
def test_a_gym_that_cannot_be_is_refused(options: list[str], said: str) -> None:
    assert said in complaint([SENDER, "127.0.0.1", "5000", "--gym", "/tmp/none", *options])


@pytest.mark.parametrize(
    "scheme", ["fixed:none", "fixed:0", "copa:x", "reno:1", "policy", "policy:/no/such.safetensors"]
)
def test_a_bad_scheme_argument_is_refused(scheme: str) -> None:
    complaint([SENDER, "127.0.0.1", "5000", "--scheme", scheme])


def test_a_broken_policy_is_refused_with_its_name(steady_policy: Path) -> None:
    whole = steady_policy.read_bytes()
    for size in (0, 7, 100, len(whole) - 1):
        steady_policy.write_bytes(whole[:size])
        assert str(steady_policy) in complaint([SENDER, "--check", "--scheme", f"policy:{steady_policy}"])


def test_a_whole_policy_passes_the_check(steady_policy: Path) -> None:
    done = run_sender("--check", "--scheme", f"policy:{steady_policy}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "options",
    [
        ["--scheme"],
        [],
        ["--scheme", "copa", "--sconds", "3"],
        ["--scheme", "copa", "--seconds", "-1"],
        ["--scheme", "copa", "--bytes", "1e6"],
        ["--scheme", "copa", "--on-off", "1"],
        ["--scheme", "copa", "--on-off", "1,0"],
        ["--scheme", "copa", "--think", "1"],
        ["--scheme", "copa", "--bytes", "1000", "--think", "-1"],
        ["--scheme", "copa", "--seed", "-1"],
    ],
)
def test_bad_options_are_refused(options: list[str]) -> None:
    complaint([SENDER, "127.0.0.1", "5000", *options])


def test_statistics_that_could_not_be_written_are_refused_at_once(tmp_path: Path) -> None:
    flow = [SENDER, "127.0.0.1", "5000", "--scheme", "copa", "--stats"]
    assert "/no/such/folder" in complaint([*flow, "/no/such/folder/s.json"])
    assert str(tmp_path) in complaint([*flow, str(tmp_path)])


@pytest.mark.parametrize("program", [SENDER, RECEIVER])
def test_help_and_version(program: str) -> None:
    for option, expected in (("--help", "seconds"), ("--version", Path(program).name)):
        done = subprocess.run([program, option], capture_output=True, text=True, timeout=20, check=True)
        assert expected in done.stdout
        assert done.stderr == ""
