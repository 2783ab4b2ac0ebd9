import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.host.folder_lock import folder_lock
from ccgym.envs.host.process_group import running_in_group

HOLD = """
import sys, time
from pathlib import Path
from ccgym.envs.host.folder_lock import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_process_writes_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    with running_in_group([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another ccgym writes there: wait"), folder_lock(tmp_path):
            pass
    with folder_lock(tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_a_folder_made_for_nothing_is_gone_again(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "empty"):
        pass
    assert not (tmp_path / "empty").exists()
    with folder_lock(tmp_path / "used"):
        (tmp_path / "used" / "file").touch()
    assert (tmp_path / "used" / "file").exists()


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="cannot write there"), folder_lock(place):
            pass
