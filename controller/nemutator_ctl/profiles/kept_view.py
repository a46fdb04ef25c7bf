"""Profiles that are kept, as a table to choose from."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from nemutator_ctl.answers import Moment, understood
from nemutator_ctl.tables import Column, moment, table

LAYOUT = (
    Column("ID", limit=40),
    Column("ASKED"),
    Column("MEASURE"),
    Column("STATE", limit=60),
    Column("WORKLOAD", limit=80),
    Column("TITLE", limit=100),
)

NOTHING = "No profile is kept.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProfile:
    # It becomes a part of a path that is asked for next.
    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9]+\Z")]
    asked_at: Moment
    measure: str
    state: str
    reason: str
    workload: str
    title: str


@dataclass(frozen=True, slots=True)
class ListedProfiles:
    items: tuple[ListedProfile, ...]


def decode_kept(document: object) -> ListedProfiles:
    """The profiles in *document*, or an `OperatorError` when there are none."""
    return understood(document, ListedProfiles, "a list of profiles")


def kept_view(listed: ListedProfiles) -> str:
    return table(LAYOUT, list(map(_cells, listed.items))) if listed.items else NOTHING


def _cells(one: ListedProfile) -> tuple[str, ...]:
    state = f"{one.state}: {one.reason}" if one.reason else one.state
    return one.id, moment(one.asked_at), one.measure, state, one.workload, one.title
