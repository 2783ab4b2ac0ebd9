"""When a window has settled, and what a check says that is not sure."""

import numpy as np
from ccgym.experiments.acceptance.policy_checks import settling_step
from ccgym.experiments.check import Check, all_met


def test_a_window_that_crosses_the_ideal_one_has_not_settled() -> None:
    crossing = np.array([False, True, False, False, True] + [True] * 20)
    assert settling_step(crossing) == 4
    assert settling_step(np.zeros(10, bool)) == 10
    probing = np.ones(200, bool)
    probing[150:155] = False
    assert settling_step(probing) == 0, "what probes the path now and then is settled"


def test_a_check_that_is_not_sure_says_so() -> None:
    assert Check("share", ">= 95 %", "94 % to 97 %", met=None).line.startswith("UNSURE")
    assert [all_met(True, None), all_met(None, False), all_met(True, True)] == [None, False, True]
