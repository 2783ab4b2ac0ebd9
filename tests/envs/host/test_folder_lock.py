import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.host.folder_lock import file_lock, folder_lock
from ccgym.envs.host.process_group import running_in_group

HOLD = """
import sys, time
from pathlib import Path
from ccgym.envs.host import folder_lock
with getattr(folder_lock, sys.argv[1])(Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("lock", [folder_lock, file_lock])
def test_one_process_writes_and_a_killed_one_holds_nothing(
    tmp_path: Path, lock: Callable[[Path], AbstractContextManager[None]]
) -> None:
    place = tmp_path / "place"
    argv = [sys.executable, "-c", HOLD, lock.__name__, str(place)]
    with running_in_group(argv, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another ccgym writes there: wait"), lock(place):
            pass
    with lock(place):
        assert list(tmp_path.iterdir()) == [place]


def test_a_folder_made_for_nothing_is_gone_again(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "empty"):
        pass
    assert not (tmp_path / "empty").exists()
    with folder_lock(tmp_path / "used"):
        (tmp_path / "used" / "file").touch()
    assert (tmp_path / "used" / "file").exists()


def test_a_file_made_for_nothing_is_gone_again(tmp_path: Path) -> None:
    with file_lock(tmp_path / "empty"):
        pass
    assert not (tmp_path / "empty").exists()
    with file_lock(tmp_path / "used"):
        (tmp_path / "used").write_text("kept")
    with file_lock(tmp_path / "used"):
        pass
    assert (tmp_path / "used").read_text() == "kept"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nothing" / "below"):
        with pytest.raises(InputError, match="cannot write there"), file_lock(place):
            pass


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="cannot write there"), folder_lock(place):
            pass
