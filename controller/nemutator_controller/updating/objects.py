"""SizingPolicies as an API server stores them; `model.py` decides whether one is sound."""

from typing import Any

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.objects import PolicyStatus
from nemutator_controller.updating.model import GROUP, KIND, PLURAL, VERSION


class SizingPolicyObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: PolicyStatus = PolicyStatus()


SIZING_POLICIES = Resource(GROUP, VERSION, PLURAL, KIND, SizingPolicyObject, namespaced=False)
