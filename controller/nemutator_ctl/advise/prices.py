"""What is wasted, in amounts and money, by namespace: pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_controller.prices import FIELDS, PriceError, Prices, prices_of

from nemutator_ctl.advise.view import AdviceRow, wasted
from nemutator_ctl.tables import Column, table

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class NamespaceWaste:
    namespace: str
    containers: int
    cores: float
    gib: float


def prices_in(documents: Sequence[Any]) -> Prices:
    """Those of a file; raises `PriceError`."""
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise PriceError(f"expected one object with {', '.join(FIELDS)} and currency")
    return prices_of(documents[0])


def totals(rows: Sequence[AdviceRow]) -> list[NamespaceWaste]:
    """The greatest first, as far as one can say without prices; all together come last."""
    found: dict[str, tuple[int, float, float]] = {}
    for row in rows:
        cpu, memory = wasted(row)
        count, cores, gib = found.get(row.namespace, (0, 0.0, 0.0))
        found[row.namespace] = (count + 1, cores + cpu / 1_000, gib + memory / _GIB)
    parts = [NamespaceWaste(name, *amounts) for name, amounts in found.items()]
    parts.sort(key=lambda one: (-(one.cores + one.gib / 8), one.namespace))
    whole = NamespaceWaste(
        "all",
        sum(one.containers for one in parts),
        math.fsum(one.cores for one in parts),
        math.fsum(one.gib for one in parts),
    )
    return [*parts, whole]


def totals_document(rows: Sequence[AdviceRow], prices: Prices | None) -> dict[str, Any]:
    """The same for programs, each namespace once; all together are no namespace."""
    *parts, whole = totals(rows)
    return {
        "items": [{"namespace": one.namespace, **_amounts(one, prices)} for one in parts],
        "all": _amounts(whole, prices),
        **({"currency": prices.currency} if prices is not None else {}),
    }


def _amounts(one: NamespaceWaste, prices: Prices | None) -> dict[str, float]:
    found = {"containers": one.containers, "cores": round(one.cores, 6), "gib": round(one.gib, 6)}
    money = {} if prices is None else {"a_month": round(prices.of_a_month(one.cores, one.gib), 4)}
    return found | money


def totals_view(rows: Sequence[AdviceRow], prices: Prices | None) -> str:
    layout = [
        Column("NAMESPACE", limit=60),
        Column("CONTAINERS", right=True),
        Column("CORES", right=True),
        Column("GIB", right=True),
    ]
    if prices is not None:
        layout.append(Column(f"{prices.currency} A MONTH".strip(), right=True))
    return table(layout, [_cells(one, prices) for one in totals(rows)])


def _cells(one: NamespaceWaste, prices: Prices | None) -> Sequence[str]:
    cells = (one.namespace, str(one.containers), f"{one.cores:.2f}", f"{one.gib:.2f}")
    return cells if prices is None else (*cells, f"{prices.of_a_month(one.cores, one.gib):.2f}")
