"""The path of each episode over one emulator: what no episode draws is built once."""

from collections.abc import Sequence

from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec


class EpisodePaths:
    """Paths of one emulator, a draw of it for each episode; most draws differ in where they begin alone."""

    def __init__(self, spec: EmulatorSpec, flows: Sequence[_core.Flow]) -> None:
        """Reads the emulator's traces, unless they depend on the draw.

        Args:
            spec: the emulator.
            flows: that share its path; none: those of the spec.

        Raises:
            InputError: a trace cannot be read or is broken.
        """
        self._spec, self._flows = spec, flows
        begins_late = spec.uplink.begin_s or spec.downlink.begin_s
        self._whole = None if spec.is_random or begins_late else spec.to_path(flows=flows)
        self._begins_at_once = spec.begins_at_once

    def path(self, seed: int) -> _core.Path:
        """The path of the episode of this seed, as `EmulatorSpec.drawn` has it."""
        if self._whole is None:
            return self._spec.drawn(seed).to_path(flows=self._flows)
        begin_ms = 0 if self._begins_at_once else self._spec.begin_ms(seed)
        return self._whole.beginning_at(begin_ms) if begin_ms else self._whole
