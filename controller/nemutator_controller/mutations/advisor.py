"""What a workload should request, as far as it is known: the port of the verb `resources`."""

from dataclasses import dataclass
from typing import Literal, Protocol

from nemutator_controller.kube.quantities import Quantity

Name = Literal["cpu", "memory", "ephemeral-storage"]
Side = Literal["requests", "limits"]


@dataclass(frozen=True, slots=True)
class WorkloadRef:
    """The owner of a container's pod; without an owner, the pod itself."""

    namespace: str
    owner_kind: str
    owner_name: str


@dataclass(frozen=True, slots=True)
class RecommendedAmount:
    amount: Quantity
    reason: str
    """Like `p95 of 212 points`."""


@dataclass(frozen=True, slots=True)
class NoAdvice:
    reason: str


class Advisor(Protocol):
    """Answers from memory."""

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> RecommendedAmount | NoAdvice: ...


@dataclass(frozen=True, slots=True)
class WithoutAdvice:
    """An `Advisor` that has no advice, and says why."""

    reason: str

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> RecommendedAmount | NoAdvice:
        return NoAdvice(self.reason)
