"""What a user can get wrong: one line on stderr, exit code 2."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from ccgym.tunnel.session import program

from .tunnel_ends import needs_tunnels, run_tunnel

pytestmark = needs_tunnels


def complaint(*arguments: str, code: int = 2, prefix: tuple[str, ...] = ()) -> str:
    returned, printed, said = run_tunnel(*arguments, prefix=prefix)
    assert (returned, printed) == (code, ""), said
    assert said.count("\n") == 1
    return said


def test_a_secret_that_others_can_read_is_refused(secret: str) -> None:
    Path(secret).chmod(0o644)
    for end in (["server"], ["client", "127.0.0.1", "5000"]):
        said = complaint(*end, "--secret-file", secret)
        assert f"secret file {secret}: others may use it; mend it: chmod 600 {secret}" in said


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "s"
    assert run_tunnel("secret", str(file)) == (0, "", "")
    assert (file.stat().st_mode & 0o777, file.stat().st_size) == (0o600, 65)
    assert f"secret file {file}: File exists" in complaint("secret", str(file))


def test_no_secret_and_no_compatible_is_refused() -> None:
    assert "--secret-file FILE is missing" in complaint("server")
    assert "ccgym-tunnel secret FILE" in complaint("client", "127.0.0.1", "5000")


def test_a_port_in_use_is_named() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", 0))
        port = taken.getsockname()[1]
        said = complaint("server", "--compatible", "--port", str(port))
    assert said == f"ccgym-tunnel: port {port} is in use: choose another or stop what listens there\n"


def test_an_address_that_is_not_ours_is_named() -> None:
    assert "192.0.2.77:0 is not an address of this machine" in complaint(
        "server", "--compatible", "--bind", "192.0.2.77"
    )


def test_an_address_clash_is_named() -> None:
    said = complaint("server", "--compatible", "--local", "100.64.0.1", "--peer", "100.64.0.1")
    assert "both ends cannot be 100.64.0.1" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give an interface an address")
def test_an_address_in_use_by_an_interface_is_named() -> None:
    taken = "ip link set lo up; ip address add 100.64.9.1/32 dev lo; exec $0 $@"
    prefix = ("unshare", "--net", "sh", "-c", taken)
    said = complaint("server", "--compatible", "--local", "100.64.9.1", "--peer", "100.64.9.2", prefix=prefix)
    assert "address 100.64.9.1 is in use here by lo" in said


def test_without_the_right_to_namespaces_the_mend_is_named() -> None:
    # In a user namespace of its own, which may have no further ones, without its rights.
    no_more = (
        "echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all $0 $@"
    )
    prefix = ("unshare", "--user", "--map-root-user", "sh", "-c", no_more)
    said = complaint("server", "--compatible", prefix=prefix)
    assert "may not make a network namespace: run as root or with CAP_NET_ADMIN" in said


def test_without_cap_net_admin_the_mend_is_named() -> None:
    no_tun = "exec setpriv --bounding-set=-net_admin --inh-caps=-net_admin $0 $@"
    prefix = ("unshare", "--user", "--map-root-user", "sh", "-c", no_tun)
    assert "CAP_NET_ADMIN" in complaint("server", "--compatible", prefix=prefix)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to set the bit")
def test_it_refuses_to_be_setuid(open_folder: Path) -> None:
    copy = open_folder / "ccgym-tunnel"
    shutil.copyfile(program(), copy)
    copy.chmod(0o4755)
    prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(copy))
    returned, _, said = run_tunnel(prefix=prefix)
    assert returned == 2
    assert "refuses to run setuid" in said


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    said = complaint("server", "--compatible", "--egress-log", "/no/such/folder/log")
    assert "log file /no/such/folder/log: No such file or directory" in said
    assert str(tmp_path) in complaint("server", "--compatible", "--ingress-log", str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_files_are_opened_with_the_users_rights_only(tmp_path: Path, open_folder: Path) -> None:
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    mine = open_folder / "mine"
    mine.write_text("as it was")
    mine.chmod(0o600)
    assert f"log file {mine}: Permission denied" in complaint(
        "server", "--compatible", "--egress-log", str(mine), prefix=nobody
    )
    assert mine.read_text() == "as it was"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["sever"],
        ["client", "--compatible", "127.0.0.1"],
        ["client", "--compatible", "127.0.0.1", "5000"],
        ["client", "--compatible", "example.org", "5000", "100.64.0.2", "100.64.0.1"],
        ["client", "--compatible", "127.0.0.1", "0", "100.64.0.2", "100.64.0.1"],
        ["client", "--compatible", "127.0.0.1", "5000", "100.64.0.2", "224.0.0.1"],
        ["client", "--compatible", "--local", "1.2.3.4", "--peer", "1.2.3.5", "127.0.0.1", "5000"],
        ["server", "--compatible", "--mtu", "575"],
        ["server", "--compatible", "--mtu", "1500x"],
        ["server", "--compatible", "--interface", "no-such"],
        ["server", "--compatible", "--local", "100.64.0.1"],
        ["server", "--compatible", "--port", "65536"],
        ["server", "--compatible", "--secret-file", "x"],
        ["server", "--secret-file", "/no/such/file"],
        ["server", "--compatible", "--no-such-option"],
        ["secret"],
    ],
)
def test_bad_arguments_are_refused(arguments: list[str]) -> None:
    complaint(*arguments)


def test_nobody_at_the_servers_port_is_reported_in_seconds(secret: str) -> None:
    said = complaint("client", "--secret-file", secret, "127.0.0.1", "9", "--", "true", code=1)
    assert "no answer from 127.0.0.1:9 within 5 s: start the server there first" in said


def test_help_and_version() -> None:
    for option, expected in (("--help", "Overhead: 36 bytes per packet"), ("--version", "ccgym-tunnel ")):
        returned, printed, said = run_tunnel(option)
        assert (returned, said) == (0, "")
        assert expected in printed
