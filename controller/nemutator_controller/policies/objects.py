"""MutationPolicies as an API server stores them; `model.py` decides whether one is sound."""

from typing import Any

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.model import GROUP, KIND, PLURAL, VERSION

READY = "Ready"


class PolicyCondition(Shape, frozen=True, gc=False):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: str = ""


class PolicyStatus(Shape, frozen=True, gc=False):
    conditions: tuple[PolicyCondition, ...] = ()


class PolicyObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: PolicyStatus = PolicyStatus()

    @property
    def ready(self) -> PolicyCondition | None:
        """The condition that was written last."""
        return next((each for each in self.status.conditions if each.type == READY), None)


MUTATION_POLICIES = Resource(GROUP, VERSION, PLURAL, KIND, PolicyObject, namespaced=False)
