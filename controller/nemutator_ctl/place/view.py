"""Scores of nodes as a table, and with the reasons of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.documents import unlisted
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

PLACEMENT_PATH = "/api/v1/placement"
WIDTH = 200

LAYOUT = (
    Column("NODE", limit=50),
    Column("SCORE", right=True),
    Column("FOR IT", limit=70),
    Column("AGAINST IT", limit=70),
)


@dataclass(frozen=True, slots=True)
class ListedFactor:
    name: str
    weight: Amount
    score: Amount
    why: str


@dataclass(frozen=True, slots=True)
class ListedPlace:
    node: str
    score: Amount
    factors: tuple[ListedFactor, ...]


class ListedPlacement(msgspec.Struct, frozen=True, rename="camel"):
    age_s: Amount
    nodes: int
    items: tuple[ListedPlace, ...]
    season: str = ""


def decode(document: object) -> ListedPlacement:
    return understood(document, ListedPlacement, "scores of nodes")


def overview(found: ListedPlacement) -> str:
    if not found.items:
        return "there is no node\n"
    rows = [
        (one.node, f"{100 * one.score:.0f}", _reason(one, best=True), _reason(one, best=False))
        for one in found.items
    ]
    season = f"its season is {visible(found.season, limit=20)}; " if found.season else ""
    return table(LAYOUT, rows) + (
        f"{season}of {found.nodes} nodes, as they were {found.age_s:.0f} s ago; whether a node is possible at all is"
        " for the scheduler to say\n"
    )


def details(found: ListedPlacement) -> str:
    return "".join(f"{line}\n" for line in _lines(found)) or "there is no node\n"


def _lines(found: ListedPlacement) -> Iterator[str]:
    for one in found.items:
        yield f"{visible(one.node, limit=WIDTH)}: {100 * one.score:.0f} of 100"
        for each in one.factors:
            yield (
                f"  {visible(each.name, limit=20):<11} {100 * each.score:3.0f} (weight {each.weight:g})"
                f"  {visible(each.why, limit=WIDTH)}"
            )


def _reason(one: ListedPlace, *, best: bool) -> str:
    """What says most for it, or against it, by its weight."""

    def gain(each: ListedFactor) -> float:
        return each.weight * (each.score - 0.5)

    chosen = (max if best else min)(one.factors, key=gain, default=None)
    if chosen is None or (gain(chosen) <= 0 if best else gain(chosen) >= 0):
        return "-"
    return chosen.why


def first_pod(documents: Iterable[Any], *, namespace: str) -> dict[str, Any] | None:
    """Of all *documents* and what Lists among them hold; None where there is none."""
    found = (pod_in(each, namespace=namespace) for each in unlisted(documents))
    return next((pod for pod in found if pod is not None), None)


def pod_in(document: Any, *, namespace: str) -> dict[str, Any] | None:
    """The pod that *document* is, or makes, as the brain wants it; None where there is none."""
    if not isinstance(document, dict):
        return None
    kind, meta, spec = (document.get(key) for key in ("kind", "metadata", "spec"))
    meta = meta if isinstance(meta, dict) else {}
    spec = spec if isinstance(spec, dict) else {}
    place = meta.get("namespace") or namespace
    if kind == "Pod":
        return {"metadata": {**meta, "namespace": place}, "spec": spec}
    if kind == "CronJob":
        job = spec.get("jobTemplate")
        spec = job.get("spec") if isinstance(job, dict) else None
    template = spec.get("template") if isinstance(spec, dict) else None
    made = template.get("spec") if isinstance(template, dict) else None
    if not isinstance(made, dict) or not isinstance(kind, str):
        return None
    owner = {"kind": kind, "name": meta.get("name") or "", "controller": True}
    return {"metadata": {"namespace": place, "ownerReferences": [owner]}, "spec": made}
