"""Grants as a table for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table

GRANTS_PATH = "/api/v1/grants"

LAYOUT = (
    Column("WHEN", limit=20),
    Column("NODE", limit=40),
    Column("WHO", limit=70),
    Column("OPERATION", limit=12),
    Column("RESULT", limit=10),
    Column("SECRET", limit=40),
    Column("REASON", limit=60),
)


@dataclass(frozen=True, slots=True)
class ListedGrant:
    at: Moment
    node: str
    namespace: str
    pod: str
    caller: str
    operation: str
    result: str
    secret: str
    reason: str


def decode(document: object) -> tuple[ListedGrant, ...]:
    """The grants in *document*, or an `OperatorError` when it is no list of them."""
    return understood(document, Listing[ListedGrant], "a list of grants").items


def overview(grants: Sequence[ListedGrant]) -> str:
    if not grants:
        return "No such grant is recorded.\n"
    return table(LAYOUT, [_cells(each) for each in grants])


def _cells(grant: ListedGrant) -> Sequence[str]:
    return (
        moment(grant.at),
        grant.node,
        f"{grant.namespace}/{grant.pod}" if grant.pod else grant.caller,
        grant.operation,
        grant.result,
        grant.secret,
        grant.reason,
    )
