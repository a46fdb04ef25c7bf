"""What a workload should ask for, as far as somebody knows: the port of the verb `resources`."""

from dataclasses import dataclass
from typing import Literal, Protocol

from nemutator_controller.kube.quantities import Quantity

Name = Literal["cpu", "memory", "ephemeral-storage"]
Side = Literal["requests", "limits"]


@dataclass(frozen=True, slots=True)
class WorkloadRef:
    """Whose container it is. Of a pod that nobody manages, the pod itself."""

    namespace: str
    owner_kind: str
    owner_name: str


@dataclass(frozen=True, slots=True)
class AdvisedAmount:
    amount: Quantity
    reason: str
    """`p95 of 212 points`."""


@dataclass(frozen=True, slots=True)
class NoAdvice:
    reason: str


class Advisor(Protocol):
    """Answers from memory."""

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> AdvisedAmount | NoAdvice: ...


@dataclass(frozen=True, slots=True)
class WithoutAdvice:
    """An `Advisor` that has none to give, and says why."""

    reason: str

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> AdvisedAmount | NoAdvice:
        return NoAdvice(self.reason)
