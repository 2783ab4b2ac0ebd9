"""A run in real time beside which the machine was busy says so."""

from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.evaluation.host_load import busy_remarks, read_others_cores, write_others_cores
from ccgym.evaluation.run_files import RunFiles


@pytest.mark.parametrize(("cores", "remarks"), [(0.0, 0), (0.2, 0), (0.21, 1), (1.8, 1)])
def test_the_load_of_other_programs_is_stored_and_reported_above_a_fifth_of_a_core(
    tmp_path: Path, cores: float, remarks: int
) -> None:
    file = RunFiles(tmp_path, "copa", 1).load
    write_others_cores(file, cores)
    assert read_others_cores(file) == cores
    assert len(busy_remarks(file)) == remarks


def test_a_run_in_virtual_time_has_no_host_load(tmp_path: Path) -> None:
    assert read_others_cores(tmp_path / "nothing.json") is None
    assert busy_remarks(tmp_path / "nothing.json") == []


@pytest.mark.parametrize("content", ["[]", "{}", '{"others_cores": "all"}', '{"others_cores": -1}', "{"])
def test_a_file_without_a_host_load_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "copa_load_run1.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"copa_load_run1\.json"):
        read_others_cores(file)
