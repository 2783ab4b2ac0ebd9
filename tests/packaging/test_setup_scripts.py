import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest
from ccgym.tests.processes import MOST_SECONDS
from ccgym.tests.scripts import ETC, load_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def make_venv() -> ModuleType:
    return load_script("make_venv")


def test_a_python_that_is_too_old_is_refused_in_one_line(make_venv: ModuleType) -> None:
    with pytest.raises(SystemExit) as end:
        make_venv.check_python(">=3.99")
    assert "ccgym needs >=3.99" in str(end.value)
    assert "make setup PYTHON=" in str(end.value)


def test_this_python_is_new_enough(make_venv: ModuleType) -> None:
    make_venv.check_python(">=3.11")


def test_another_interpreter_makes_the_environment_anew(
    make_venv: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_venv, "ROOT", tmp_path)
    monkeypatch.setattr(make_venv, "FOLDER", tmp_path / ".venv")
    assert not make_venv.is_of_another(), "there is none"
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    assert not make_venv.is_of_another()
    python.unlink()
    python.symlink_to("/usr/bin/python3.0")
    assert make_venv.is_of_another()


@pytest.mark.parametrize(
    ("named", "is_made"), [([], False), (["PYTHON=python3"], False), (["PYTHON=./other"], True)]
)
def test_make_goes_on_with_the_interpreter_of_the_environment_until_another_is_named(
    named: list[str], is_made: bool, tmp_path: Path
) -> None:
    for name in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ETC, tmp_path / "etc")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho /usr/bin/another\n")
    other.chmod(0o755)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    # Not `which python3`: with pyenv that is a script which starts the interpreter.
    interpreter = subprocess.run(
        ["python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=MOST_SECONDS,
    ).stdout.strip()  # fmt: skip
    (tmp_path / ".venv" / "bin" / "python").symlink_to(interpreter)
    (tmp_path / ".venv" / "tools.installed").touch()
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "PYTHON")
    }
    done = subprocess.run(
        ["make", "-n", "build", *named],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=MOST_SECONDS,
    )  # fmt: skip
    assert ("etc/make_venv.py" in done.stdout) == is_made


SETUP = """[options]
python_requires = >=3.11
install_requires =
    used
    odd-name
[options.extras_require]
dev =
    ninja
    tested
"""


def wheel(folder: Path, name: str, module: str) -> None:
    """The smallest package there is."""
    about = f"{name}-1.dist-info"
    with ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as package:
        package.writestr(f"{module}.py", "")
        package.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        package.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        package.writestr(f"{about}/RECORD", "")


UV_THAT_LACKS_A_CERTIFICATE = """#!/bin/sh
test "$UV_SYSTEM_CERTS" && exec {} "$@"
"""
"""But for those of the system, as where the index is an organisation's own."""


def wheel_of_uv(folder: Path, *, lacks_a_certificate: bool) -> None:
    """The one that is installed here, as the registry gives it."""
    uv = distribution("uv")
    about = f"uv-{uv.version}"
    with ZipFile(folder / f"{about}-py3-none-any.whl", "w") as package:
        for file in uv.files or []:
            if file.name == "uv":
                program = Path(str(uv.locate_file(file)))
                if lacks_a_certificate:
                    program = folder / "uv"
                    program.write_text(UV_THAT_LACKS_A_CERTIFICATE.format(uv.locate_file(file)))
                    program.chmod(0o755)
                package.write(str(program), f"{about}.data/scripts/uv")
            elif ".." not in file.parts and file.name != "RECORD":
                package.write(str(uv.locate_file(file)), str(file))
        package.writestr(f"{about}.dist-info/RECORD", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("has_uv", "lacks_a_certificate", "uv_finds_packages", "installer"),
    [
        (True, False, True, "uv"),
        (True, True, True, "uv"),
        (True, False, False, "pip"),
        (False, False, False, "pip"),
    ],
    ids=["uv", "uv, at the second attempt", "pip after uv", "pip"],
)
def test_the_packages_come_by_uv_and_where_it_cannot_by_pip(
    has_uv: bool, lacks_a_certificate: bool, uv_finds_packages: bool, installer: str, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    for name, module in {"used": "used", "Odd_Name": "odd", "ninja": "ninja", "tested": "tested"}.items():
        wheel(packages, name, module)
    if has_uv:
        wheel_of_uv(packages, lacks_a_certificate=lacks_a_certificate)
    (tmp_path / "setup.cfg").write_text(SETUP)
    (tmp_path / "etc").mkdir()
    shutil.copy(ETC / "make_venv.py", tmp_path / "etc")
    (tmp_path / "uv.toml").write_text("no-index = true\n")  # of which uv knows no variable
    told = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(packages),
        "UV_CONFIG_FILE": str(tmp_path / "uv.toml"),
    }
    told |= {"UV_FIND_LINKS": str(packages)} if uv_finds_packages else {}
    program = [sys.executable, str(tmp_path / "etc" / "make_venv.py")]
    told["PYTHONDONTWRITEBYTECODE"] = "1"  # as in most containers
    subprocess.run([*program, "tools"], env={**os.environ, **told}, check=True, timeout=MOST_SECONDS)
    python = tmp_path / ".venv" / "bin" / "python"
    subprocess.run([python, "-c", "import ninja"], check=True, timeout=MOST_SECONDS)
    assert not list((tmp_path / ".venv").rglob("used.py"))
    subprocess.run(program, env={**os.environ, **told}, check=True, timeout=MOST_SECONDS)
    subprocess.run([python, "-c", "import used, odd, ninja, tested"], check=True, timeout=MOST_SECONDS)
    said_by = [path.read_text() for path in (tmp_path / ".venv").rglob("used-1.dist-info/INSTALLER")]
    assert [each.strip() for each in said_by] == [installer]
    compiled = [path.name.split(".")[0] for path in (tmp_path / ".venv").rglob("__pycache__/*.pyc")]
    assert {"used", "tested", "odd"} <= set(compiled)


def test_make_lets_python_keep_what_it_compiles(tmp_path: Path) -> None:
    for name in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    asked = ["make", "--no-print-directory", "--eval", "ask: ; @env", "ask"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        asked, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True, timeout=MOST_SECONDS
    )
    assert "PYTHON=" in done.stdout
    assert "PYTHONDONTWRITEBYTECODE" not in done.stdout


@pytest.mark.parametrize("name", ['say "so"', "$HOME", "a:b", "back`tick", "back\\slash"])
def test_a_folder_whose_name_the_shell_reads_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for file in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / file, folder)
    done = subprocess.run(
        ["make", "help"], cwd=folder, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{folder}: a folder whose name holds none of" in line


def test_make_works_in_a_folder_with_spaces_and_quotes_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "it's a (new) folder, isn't it?"
    folder.mkdir()
    for file in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / file, folder)
    subprocess.run(["make", "help"], cwd=folder, stdout=subprocess.DEVNULL, check=True, timeout=MOST_SECONDS)


@pytest.mark.parametrize("verb", ["test", "train", "fuzz"])
def test_a_dry_run_only_prints(verb: str, tmp_path: Path) -> None:
    for name in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ETC, tmp_path / "etc")
    before = sorted(tmp_path.rglob("*"))
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")
    }
    done = subprocess.run(
        ["make", "-n", verb],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "etc/make_venv.py" in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_without_apt_the_set_up_says_what_is_skipped_and_goes_on(tmp_path: Path) -> None:
    python3 = shutil.which("python3")
    assert python3 is not None
    (tmp_path / "python3").symlink_to(python3)
    done = subprocess.run(
        [ETC / "install-system-packages.sh", "--tests"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "skipped, no apt-get here" in done.stdout
    assert "mahimahi" in done.stdout
    assert "libgtest-dev" in done.stdout
    assert "training and evaluation in the twin work" in done.stdout


FAKE_SYSCTL = """#!/bin/bash
case $1 in
  -n) cat "$KERNEL/$2" ;;
  -w) echo "${2#*=}" >"$KERNEL/${2%%=*}" ;;
esac
"""


def test_what_a_container_does_not_let_root_set_is_told_and_set_up_goes_on(tmp_path: Path) -> None:
    (tmp_path / "sysctl").write_text("#!/bin/sh\nexit 255\n")
    (tmp_path / "sysctl").chmod(0o755)
    done = subprocess.run(
        [ETC / "prepare-network.sh"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "`ccgym doctor` says what is missing" in done.stdout


def test_the_kernel_is_set_by_root_and_left_alone_by_others(tmp_path: Path) -> None:
    values = {"ip_forward": "0", "tcp_available_congestion_control": "reno bbr cubic vegas"}
    for name, value in {**values, "tcp_allowed_congestion_control": "vegas reno"}.items():
        (tmp_path / f"net.ipv4.{name}").write_text(value + "\n")
    (tmp_path / "sysctl").write_text(FAKE_SYSCTL)
    (tmp_path / "sysctl").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "KERNEL": str(tmp_path)}

    def prepare() -> str:
        script = [ETC / "prepare-network.sh"]
        return subprocess.run(
            script, env=environment, capture_output=True, text=True, timeout=60, check=True
        ).stdout

    first, second = prepare(), prepare()
    forwarding = (tmp_path / "net.ipv4.ip_forward").read_text().strip()
    allowed = (tmp_path / "net.ipv4.tcp_allowed_congestion_control").read_text().strip()
    if os.geteuid() == 0:
        assert first.endswith("network: set\n")
        assert second == "network: ready\n"
        assert (forwarding, allowed) == ("1", "vegas reno bbr cubic")
    else:
        assert "not root" in first
        assert (forwarding, allowed) == ("0", "vegas reno")
