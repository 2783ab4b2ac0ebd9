"""The policy that an experiment measures, as the command line names it."""

import pytest
from ccgym.agents.shipped import policy_path
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.experiments.arguments import policy_file_of


def test_a_policy_is_measured_at_the_preference_of_its_file() -> None:
    file = policy_path("indigo2")
    assert policy_file_of("indigo2").samefile(file)
    for scheme in ("indigo2", f"policy:{file}"):
        with pytest.raises(InputError, match=rf"a preference cannot be chosen here: --scheme {scheme} is"):
            policy_file_of(f"{scheme}:0.9")


@pytest.mark.parametrize("experiment", ["policy-checks", "evidence", "preference-curve"])
def test_a_preference_that_would_not_be_measured_is_refused(
    experiment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", experiment, "--scheme", "indigo2:0.9"]) == 2
    assert "preference cannot be chosen here" in capsys.readouterr().err
