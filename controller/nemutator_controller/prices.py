"""What a core and a GiB cost for an hour, and so what a waste costs a month."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HOURS_OF_A_MONTH = 730.0
DEAREST = 1e6
"""Of an hour: more is a slip."""

FIELDS = ("core_hour", "gib_hour")


class PriceError(ValueError):
    """What is wrong with prices; for people."""


@dataclass(frozen=True, slots=True)
class Prices:
    core_hour: float
    gib_hour: float
    currency: str = ""

    def of_a_month(self, cores: float, gib: float) -> float:
        return HOURS_OF_A_MONTH * (cores * self.core_hour + gib * self.gib_hour)


def prices_of(given: Mapping[str, Any]) -> Prices:
    """Raises `PriceError`."""
    if unknown := sorted(set(given) - {*FIELDS, "currency"}):
        raise PriceError(f"{unknown[0][:40]!r} is no price: expected {', '.join(FIELDS)}")
    currency = given.get("currency", "")
    if not isinstance(currency, str) or len(currency) > 10 or not currency.isprintable():
        raise PriceError("currency: expected a short text, like EUR")
    core, gib = (_price(given, name) for name in FIELDS)
    return Prices(core, gib, currency)


def written_prices(text: str) -> Prices | None:
    """Of a setting, as `core_hour: 0.03, gib_hour: 0.004, currency: EUR`; None for none. Raises `PriceError`."""
    if not text.strip():
        return None
    given: dict[str, Any] = {}
    for part in text.split(","):
        name, colon, value = (word.strip() for word in part.partition(":"))
        if not colon or name in given:
            raise PriceError("expected core_hour: 0.03, gib_hour: 0.004, currency: EUR, each once")
        given[name] = value if name == "currency" else _number(value)
    return prices_of(given)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _price(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= DEAREST:  # type: ignore[operator]
        raise PriceError(f"{name}: expected a number from 0 to {DEAREST:.0f}: of one for an hour")
    return float(value)  # type: ignore[arg-type]
