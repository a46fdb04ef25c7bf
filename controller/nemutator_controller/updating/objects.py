"""SizingPolicies as an API server stores them; `model.py` decides whether one is sound."""

from typing import Any

import msgspec

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.objects import PolicyCondition
from nemutator_controller.updating.model import GROUP, KIND, PLURAL, VERSION


class AdvisedAmounts(Shape, frozen=True, gc=False, omit_defaults=True):
    """Quantities as text; empty: there is none."""

    cpu: str = ""
    memory: str = ""


class AdvisedContainer(Shape, frozen=True, gc=False, omit_defaults=True):
    name: str
    is_firm: bool = msgspec.field(default=False, name="firm")
    requested: AdvisedAmounts = AdvisedAmounts()
    target: AdvisedAmounts = AdvisedAmounts()
    lower_bound: AdvisedAmounts = AdvisedAmounts()
    upper_bound: AdvisedAmounts = AdvisedAmounts()
    reason: str = ""


class AdvisedWorkload(Shape, frozen=True, gc=False, omit_defaults=True):
    namespace: str
    kind: str
    name: str
    containers: tuple[AdvisedContainer, ...] = ()


class SizingStatus(Shape, frozen=True, gc=False):
    conditions: tuple[PolicyCondition, ...] = ()
    workloads: tuple[AdvisedWorkload, ...] = ()
    workloads_left_off: int = 0


class SizingPolicyObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: SizingStatus = SizingStatus()


SIZING_POLICIES = Resource(GROUP, VERSION, PLURAL, KIND, SizingPolicyObject, namespaced=False)
