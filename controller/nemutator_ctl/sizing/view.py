"""SizingPolicies and their pods as a table for people."""

from collections.abc import Mapping, Sequence

import msgspec

from nemutator_ctl.answers import Listing, understood
from nemutator_ctl.tables import Column, table

SIZING_PATH = "/api/v1/sizing"

LAYOUT = (
    Column("POLICY", limit=40),
    Column("MODE", limit=10),
    Column("NAMESPACE", limit=40),
    Column("WORKLOAD", limit=60),
    Column("POD", limit=60),
    Column("STATE", limit=10),
    Column("WHY", limit=160),
)


class ShownSizedPod(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    workload: str
    pod: str
    state: str
    why: str


class ShownSizing(msgspec.Struct, frozen=True, kw_only=True):
    policy: str
    mode: str
    counts: Mapping[str, int]
    pods: tuple[ShownSizedPod, ...]
    fault: str = ""


def decode(document: object) -> tuple[ShownSizing, ...]:
    return understood(document, Listing[ShownSizing], "a list of SizingPolicies").items


def overview(shown: Sequence[ShownSizing]) -> str:
    if not shown:
        return "There is no SizingPolicy, or no pod was looked at yet.\n"
    return table(LAYOUT, [cells for each in shown for cells in _rows(each)])


def _rows(sizing: ShownSizing) -> Sequence[Sequence[str]]:
    if sizing.fault:
        return [(sizing.policy, "", "", "", "", "faulty", sizing.fault)]
    if not sizing.pods:
        return [(sizing.policy, sizing.mode, "", "", "", "", "it has no pods")]
    return [
        (sizing.policy, sizing.mode, each.namespace, each.workload, each.pod, each.state, each.why)
        for each in sizing.pods
    ]
