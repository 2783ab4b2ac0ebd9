"""The emulators of a training, by what they are for."""

from dataclasses import dataclass

from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.oracle.ideal import refuse_unread
from ccgym.oracle.window import refuse_unsearchable
from ccgym.training.config import TrainingConfig
from ccgym.training.tasks.links import links_to_train_on, links_to_validate_on, pins
from ccgym.training.tasks.task_distribution import TaskDistribution, training_tasks


@dataclass(frozen=True)
class TrainingLinks:
    """What a training learns from, and what it is measured on."""

    named: list[NamedEmulator]
    """To train on, by the configuration's selection."""
    tasks: TaskDistribution
    """To train on: variations of those named, and the random ones."""
    validation: list[NamedEmulator]
    monitored: list[NamedEmulator]

    @property
    def pinned(self) -> dict[str, str]:
        """What may not change while the run is interrupted."""
        return pins(self.named, self.validation, self.monitored)


def find_links(config: TrainingConfig) -> TrainingLinks:
    """Raises InputError: one is unknown, of another split, or of a kind that the oracle does not read."""
    named, validation = links_to_train_on(config), links_to_validate_on("validation", config.validation)
    monitored = links_to_validate_on("monitored", config.monitored)
    tasks = training_tasks(config, [emulator.spec for emulator in named])
    for emulator in monitored:
        refuse_unread(emulator.spec, shared=True)
    for emulator in validation:
        refuse_unsearchable(emulator.spec)
    return TrainingLinks(named, tasks, validation, monitored)
