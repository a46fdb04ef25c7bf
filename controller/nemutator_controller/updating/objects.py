"""SizingPolicies as an API server stores them; `model.py` decides whether one is sound."""

from typing import Any

import msgspec

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.objects import PolicyCondition
from nemutator_controller.updating.model import GROUP, KIND, PLURAL, VERSION


class RecommendedTexts(Shape, frozen=True, gc=False, omit_defaults=True):
    """Quantities as text; empty: there is none."""

    cpu: str = ""
    memory: str = ""


class RecommendedForContainer(Shape, frozen=True, gc=False, omit_defaults=True):
    name: str
    is_firm: bool = msgspec.field(default=False, name="firm")
    requested: RecommendedTexts = RecommendedTexts()
    target: RecommendedTexts = RecommendedTexts()
    lower_bound: RecommendedTexts = RecommendedTexts()
    upper_bound: RecommendedTexts = RecommendedTexts()
    strategy: RecommendedTexts = RecommendedTexts()
    """Where it is not that of advice."""
    reason: str = ""


class RecommendedForWorkload(Shape, frozen=True, gc=False, omit_defaults=True):
    namespace: str
    kind: str
    name: str
    containers: tuple[RecommendedForContainer, ...] = ()


class SizingStatus(Shape, frozen=True, gc=False):
    conditions: tuple[PolicyCondition, ...] = ()
    workloads: tuple[RecommendedForWorkload, ...] = ()
    workloads_left_off: int = 0


class SizingPolicyObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: SizingStatus = SizingStatus()


SIZING_POLICIES = Resource(GROUP, VERSION, PLURAL, KIND, SizingPolicyObject, namespaced=False)
