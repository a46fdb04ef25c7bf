"""The shapes of those answers of the API that are made as plain documents, and have no type of their own."""

import dataclasses
import types
import typing
from collections.abc import Sequence
from typing import Any

import msgspec
from nemutator_common.wire import Grant

from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.console.open_api import document, part
from nemutator_controller.editing.documents import Outcome
from nemutator_controller.grants.token_leases import State as LeaseState
from nemutator_controller.grants.token_leases import TokenLease
from nemutator_controller.inventory.documents import WorkloadList
from nemutator_controller.inventory.flows_endpoint import FlowGraph, FlowList
from nemutator_controller.inventory.graphs import WorkloadGraph
from nemutator_controller.inventory.namespace_documents import NamespaceList
from nemutator_controller.inventory.trees import WorkloadTree
from nemutator_controller.journal.records import EditOutcome, Reversal
from nemutator_controller.journal.records import State as DecisionState
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.profiles.offered_targets import OfferedTarget
from nemutator_controller.profiles.records import ProfileRecord
from nemutator_controller.seasons.documents import SeasonItem, SwitchItem

Json = dict[str, Any]
Pairs = list[list[float]]


def several(kind: Any) -> Any:
    return types.GenericAlias(list, (kind,))


def with_fields(name: str, base: type, /, without: Sequence[str] = (), **further: Any) -> Any:
    """The type *base* with further fields, or with other ones in the place of its own."""
    hints = typing.get_type_hints(base)
    own = {
        each.name: hints[each.name] for each in dataclasses.fields(base) if each.name not in without
    }
    return msgspec.defstruct(name, list({**own, **further}.items()))


_OBJECT = part("ObjectName", kind=str, namespace=str, name=str)
_LISTED_MUTATION = with_fields("ListedMutation", Decision, state=DecisionState, writer=str)
MUTATION_LIST = document("MutationList", items=several(_LISTED_MUTATION))
MUTATION = with_fields(
    "Mutation",
    Decision,
    apiVersion=str,
    kind=str,
    state=DecisionState,
    writer=str,
    reversals=list[Reversal],
)
_STEP = part(
    "RollbackStep",
    path=str,
    live=list[Any],
    before=list[Any],
    after=list[Any],
    verdict=str,
    way=str,
    what=str,
)
ROLLBACK_PLAN = document("RollbackPlan", id=str, object=_OBJECT, evict=bool, steps=several(_STEP))
ROLLBACK = document(
    "Rollback",
    id=str,
    object=_OBJECT,
    state=DecisionState,
    evicted=bool,
    outcomes=list[EditOutcome],
)
_TOMBSTONE = part(
    "KeptField",
    namespace=str,
    kind=str,
    name=str,
    path=str,
    at=float,
    mutation=str,
    policy=str,
)
TOMBSTONE_LIST = document("TombstoneList", items=several(_TOMBSTONE))
OBJECT_LIST = document("ObjectList", items=list[Json])
APPLIED = document(
    "Applied",
    object=_OBJECT,
    outcome=str,
    id=str,
    edits=list[Edit],
    previewed=list[Edit],
    warnings=list[str],
)
DELETED = document("Deleted", object=_OBJECT)
MISSED_POD_LIST = document("MissedPodList", items=list[Json])

_LEASE = with_fields("ListedLease", TokenLease, state=LeaseState, owner_kind=str, owner=str)
_GRANT = with_fields("ListedGrant", Grant, owner_kind=str, owner=str)
LEASE_LIST = document("LeaseList", now=float, items=several(_LEASE))
GRANT_LIST = document("GrantList", now=float, items=several(_GRANT))

_PROFILE_FIELDS: dict[str, Any] = {
    "apiVersion": str,
    "kind": str,
    "grade": Json | None,
    "title": str,
    "workload": str,
    "link": str | None,
    "left_s": float | None,
}
PROFILE = with_fields("Profile", ProfileRecord, **_PROFILE_FIELDS)
PROFILE_LIST = document("ProfileList", items=several(PROFILE))
_TARGET = with_fields("ListedTarget", OfferedTarget, target=str)
PROFILE_TARGET_LIST = document(
    "ProfileTargetList", items=several(_TARGET), left=int, nodes_left=int
)
_AGEING_FIELDS: dict[str, Any] = {
    "apiVersion": str,
    "kind": str,
    "id": str,
    "sentence": str,
    "rate": str,
    "stack": list[Any],
    "sites": list[Json],
}
_LISTED_AGEING = with_fields(
    "ListedAgeing", AgeingFinding, without=("told",), **_AGEING_FIELDS, points=Pairs
)
AGEING_LIST = document("AgeingList", items=several(_LISTED_AGEING), paused=list[dict[str, str]])
AGEING = with_fields(
    "Ageing",
    AgeingFinding,
    without=("told", "points"),
    **_AGEING_FIELDS,
    series=list[Json],
    busiest=Json,
)

NEIGHBOUR_LIST = document(
    "NeighbourList",
    now=float,
    at=float | None,
    why=str,
    containers=int,
    untold=list[Json],
    top=int,
    aside=Json | None,
    remaining=int,
    items=list[Json],
)
NEIGHBOUR = part("Neighbour", apiVersion=str, kind=str, links=list[Json])
_CALENDAR = part("Calendar", day_s=float, slot_s=float, zone=str, compressed=bool)
SEASON_LIST = document(
    "SeasonList",
    calendar=_CALENDAR,
    cluster=SeasonItem | None,
    switches=list[SwitchItem],
    counts=dict[str, int],
    items=list[SeasonItem],
    left_off=int,
)
_POLICY_SIZES = part("PolicySizes", policy=str, mode=str, counts=dict[str, int], pods=list[Json])
SIZING_LIST = document("SizingList", items=several(_POLICY_SIZES))
_LISTED_SCALER = part(
    "ListedScaler",
    key=str,
    namespace=str,
    name=str,
    target=str,
    workload=str,
    mode=str,
    base=int | None,
    wanted=int | None,
    minimum=int | None,
    is_raised=bool,
    opportunistic=int | None,
    now_cores=float | None,
    ahead_cores=float | None,
    upper_cores=float | None,
    lead_s=float | None,
    skill=float | None,
    reason=str,
    why=str,
)
SCALER_LIST = document("ScalerList", items=several(_LISTED_SCALER), left_off=int)
PLACEMENT = document(
    "Placement",
    workload=_OBJECT,
    requests=dict[str, float],
    ageS=float,
    nodes=int,
    season=str,
    items=list[Json],
)
_KEPT_FREE = part("KeptFree", kind=str, namespace=str, name=str, pods=int)
BUFFER = document(
    "Buffer",
    most=int,
    age_s=float | None,
    policy=str,
    wanted=int | None,
    why=str,
    problem=str,
    pod=dict[str, float] | None,
    items=several(_KEPT_FREE),
)
_OVERSOLD_NODE = part(
    "OversoldNode",
    node=str,
    policy=str,
    raw_cores=float,
    allocatable_cores=float,
    requested_cores=float,
    used_cores=float | None,
    waiting=float | None,
    asked=float | None,
    standing=float,
    ratio=float,
    could=float | None,
    reason=str,
    why=str,
)
NODE_OVERSELL_LIST = document(
    "NodeOversellList",
    most=int,
    age_s=float | None,
    problem=str,
    next=str,
    remaining=int,
    items=several(_OVERSOLD_NODE),
)
_PLANNED_MOVE = part("PlannedMove", pod=str, to=str)
_PACKED_NODE = part(
    "PackedNode",
    node=str,
    share=float,
    state=str,
    since=float | None,
    why=str,
    moves=several(_PLANNED_MOVE),
)
PACKING = document("Packing", most=int, policy=str | None, items=several(_PACKED_NODE))
_POLICY_FIELDS: Any = {
    "name": str,
    "version": str,
    "condition": str,
    "document": Json,
    "mode": str,
    "apply_to": str,
    "verbs": list[str],
    "fault": str,
}
_LISTED_POLICY = part("ListedPolicy", **_POLICY_FIELDS)
OPENED_POLICY = document("OpenedPolicy", **_POLICY_FIELDS, text=str)
POLICY_LIST = document("PolicyList", items=several(_LISTED_POLICY))
POLICY_SAVED = document("PolicySaved", name=str, outcome=Outcome)
_PREVIEWED = part(
    "PreviewedObject", object=_OBJECT, edits=list[Edit], refused=str, warnings=list[str]
)
POLICY_PREVIEW = document(
    "PolicyPreview", mode=str, objects=int, more=bool, changed=int, items=several(_PREVIEWED)
)
EVICTION_LIST = document("EvictionList", items=list[Json])
EVICTION = document(
    "Eviction",
    id=str,
    at=float,
    until=float,
    by=str,
    reason=str,
    selection=str,
    counts=dict[str, int],
    pods=list[Json],
)
EVICTION_PLAN = document("EvictionPlan", id=str, takesAll=bool, missing=list[str], pods=list[Json])
ROLL = document(
    "Roll",
    id=str,
    at=float,
    by=str,
    reason=str,
    workload=str,
    deadlineS=float,
    window=str,
    offPeak=bool,
    state=str,
    open=bool,
    why=str,
)
ROLL_LIST = document("RollList", items=list[Json])
ROLL_PLAN = document("RollPlan", workload=str, replicas=int, available=int, whyNot=str)

WORKLOADS = (WorkloadList, WorkloadTree, WorkloadGraph, NamespaceList)
FLOWS = (FlowList, FlowGraph)
