"""What is wasted, in amounts and money, by namespace: pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_ctl.advise.view import AdviceRow, wasted
from nemutator_ctl.tables import Column, table

HOURS_OF_A_MONTH = 730.0
DEAREST = 1e6
"""Of an hour: more is a slip."""

FIELDS = ("core_hour", "gib_hour")
_GIB = 1 << 30


class PriceError(ValueError):
    """What is wrong with a file of prices; for people."""


@dataclass(frozen=True, slots=True)
class Prices:
    core_hour: float
    gib_hour: float
    currency: str = ""

    def of_a_month(self, cores: float, gib: float) -> float:
        return HOURS_OF_A_MONTH * (cores * self.core_hour + gib * self.gib_hour)


@dataclass(frozen=True, slots=True)
class NamespaceWaste:
    namespace: str
    containers: int
    cores: float
    gib: float


def prices_of(documents: Sequence[Any]) -> Prices:
    """Raises `PriceError`."""
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise PriceError(f"expected one object with {', '.join(FIELDS)} and currency")
    given: Mapping[str, Any] = documents[0]
    if unknown := sorted(set(given) - {*FIELDS, "currency"}):
        raise PriceError(f"{unknown[0][:40]!r} is no price: expected {', '.join(FIELDS)}")
    currency = given.get("currency", "")
    if not isinstance(currency, str) or len(currency) > 10 or not currency.isprintable():
        raise PriceError("currency: expected a short text, like EUR")
    core, gib = (_price(given, name) for name in FIELDS)
    return Prices(core, gib, currency)


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


def _price(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= DEAREST:  # type: ignore[operator]
        raise PriceError(f"{name}: expected a number from 0 to {DEAREST:.0f}: of one for an hour")
    return float(value)  # type: ignore[arg-type]
