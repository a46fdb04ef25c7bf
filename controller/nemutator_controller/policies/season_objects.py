"""SeasonPolicies as an API server stores them; `season_policies.py` decides whether one is sound."""

from typing import Any

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource
from nemutator_controller.policies.model import GROUP, VERSION
from nemutator_controller.policies.objects import PolicyStatus
from nemutator_controller.policies.season_policies import SEASON_KIND, SEASON_PLURAL


class SeasonPolicyObject(Object, frozen=True, gc=False):
    spec: Any = None
    status: PolicyStatus = PolicyStatus()


SEASON_POLICIES = Resource(
    GROUP, VERSION, SEASON_PLURAL, SEASON_KIND, SeasonPolicyObject, namespaced=False
)
