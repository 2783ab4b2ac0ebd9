"""Which instructions PyTorch computes with: those of AVX2, whatever else a processor has.

Its kernels, those of MKL and those of oneDNN are chosen by processor and add up in another order on each:
the same seed would end with other weights elsewhere. All three read their choice when they first compute.
Where training rests on an exponential or a logarithm, the program asks `math`, not NumPy, whose loops differ
in the same way.
"""

import os

PINNED = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
"""MKL keeps to this only on Intel's processors; on others it chooses by itself. Imitation asks it nothing
(`dagger/native_layers.py`); reinforcement learning does, so there the weights are those of one maker."""


def pin_arithmetic() -> None:
    """Makes the choice for this process and its children; in vain if PyTorch has already computed."""
    os.environ.update(PINNED)
