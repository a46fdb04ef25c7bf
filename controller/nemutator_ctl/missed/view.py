"""Missed pods as a table for people."""

from collections.abc import Sequence

import msgspec

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table

MISSED_PODS_PATH = "/api/v1/missed-pods"

INJECTION = "injection"

LAYOUT = (
    Column("RUNS SINCE", limit=20),
    Column("NAMESPACE", limit=40),
    Column("POD", limit=60),
    Column("WORKLOAD", limit=60),
    Column("RUNS WITHOUT", limit=60),
    Column("WHAT WAS DONE", limit=20),
)


class ShownMissedPod(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    since: Moment | None
    namespace: str
    name: str
    owner_kind: str
    owner_name: str
    policies: tuple[str, ...]
    required: bool
    result: str


def decode(document: object) -> tuple[ShownMissedPod, ...]:
    return understood(document, Listing[ShownMissedPod], "a list of missed pods").items


def overview(shown: Sequence[ShownMissedPod]) -> str:
    if not shown:
        return "Admission has missed no pod that runs.\n"
    return table(LAYOUT, [_cells(each) for each in shown])


def _cells(one: ShownMissedPod) -> Sequence[str]:
    missing = [*one.policies, *([INJECTION] if one.required else [])]
    return (
        "" if one.since is None else moment(one.since),
        one.namespace,
        one.name,
        f"{one.owner_kind}/{one.owner_name}" if one.owner_name else "",
        ", ".join(missing),
        one.result,
    )
