"""Figures of NumPy are figures in the JSON that experiments print."""

import json

import numpy as np
import pytest
from ccgym.experiments.json_text import json_text


def test_figures_of_numpy_are_printed() -> None:
    answer = {"met": np.bool_(True), "jain": np.float64(0.5), "runs": np.int64(3), "all": np.array([1.5, 2])}
    assert json.loads(json_text(answer)) == {"met": True, "jain": 0.5, "runs": 3, "all": [1.5, 2]}


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(TypeError, match="set is no figure"):
        json_text({1, 2})
