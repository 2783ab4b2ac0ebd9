"""Makes PyTorch compute with the instructions of AVX2 on every processor.

PyTorch, MKL and oneDNN choose their kernels by the processor, and these add up in different orders: the same
seed would give other weights on another machine. All three read the choice when they first compute. Where
training depends on an exponential or a logarithm, the program uses `math`, not NumPy, whose loops differ in
the same way.
"""

import os

PINNED = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
"""MKL respects this on Intel's processors only and chooses by itself on others. Imitation does not use MKL
(`dagger/native_layers.py`); reinforcement learning does, so its weights are equal on processors of one maker
only."""


def pin_arithmetic() -> None:
    """Makes the choice for this process and its children; without effect if PyTorch has already computed."""
    os.environ.update(PINNED)
