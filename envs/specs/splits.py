"""The splits of links: those for training a policy, for choosing one, and for evaluation.

Every draw belongs to a split, which is part of the random stream's seed: no seed of one split gives a link of
another.
"""

from enum import IntEnum, StrEnum

import numpy as np


class Split(StrEnum):
    """A split, named as in the file of a group and in `random:SPLIT:N`."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Family(IntEnum):
    """The kind of a draw; its number is part of the seed and never reused for another kind."""

    RANDOM_EMULATOR = 1
    FADING_EMULATOR = 2
    SHARED_LINK = 3
    UNEQUAL_LINK = 4
    TIMES_OF_FLOWS = 5
    CONTESTED_LINK = 6
    SHORT_FLOWS = 7
    TIME_OF_STEP = 8
    LINK_OF_A_GROUP = 9
    LINK_IN_SEGMENTS = 10


_SALTS = {Split.TRAIN: 0x7261696E, Split.VALIDATION: 0x76616C69, Split.TEST: 0x74657374}


def split_generator(split: Split, family: Family, seed: int, index: int) -> np.random.Generator:
    """The random stream of the `index`-th draw of a family; each split has other streams."""
    return np.random.default_rng(np.random.SeedSequence([_SALTS[split], family, seed, index]))
