"""With whose pods those of a workload exchange much, as far as it is known: the port of `talkers` of the verb `affinity`."""

from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_controller.mutations.advisor import WorkloadRef


@dataclass(frozen=True, slots=True)
class Talker:
    namespace: str
    labels: Mapping[str, str]
    """By which its pods are found."""
    share: float
    """Of the wanted weight, up to 1 for the one with which it is most."""


@dataclass(frozen=True, slots=True, eq=False)
class Talkers:
    """What was told at one time."""

    by_workload: Mapping[WorkloadRef, tuple[Talker, ...]]

    def of(self, workload: WorkloadRef) -> tuple[Talker, ...]:
        return self.by_workload.get(workload, ())


NO_TALKERS = Talkers({})
