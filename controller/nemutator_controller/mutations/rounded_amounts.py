"""Shares of amounts, and whole ones, in the units in which people write them."""

import functools
from fractions import Fraction

from nemutator_controller.kube.quantities import Format, Quantity
from nemutator_controller.mutations.advisor import Name

_MILLI = 10**6
_UNIT = 10**9

_WITHOUT_UNIT = frozenset("0123456789mun")
_STEPS = {Format.BINARY: 1024, Format.DECIMAL: 1000}
"""From one unit to the next."""


@functools.lru_cache(maxsize=256)
def _exactly(ratio: float) -> tuple[int, int]:
    # As people write it: 0.1 is a tenth, not the nearest binary fraction.
    exactly = Fraction(str(ratio))
    return exactly.numerator, exactly.denominator


def share(amount: Quantity, ratio: float) -> Quantity:
    """*ratio* of *amount*, in the units in which people have written that: 0.8 of 1Gi is 820Mi.

    It is rounded up to the largest unit of which there are a hundred; an amount without a unit keeps none.
    """
    return _share_of(amount.nanos, amount.format, ratio)


@functools.lru_cache(maxsize=1024)
def _share_of(whole: int, format_: Format, ratio: float) -> Quantity:
    # Most pods ask for the same few amounts.
    parts, of = _exactly(ratio)
    nanos = abs(whole) * parts // of * (1 if whole >= 0 else -1)
    base = _STEPS.get(format_)
    if base is None or str(Quantity(whole, format_))[-1:] in _WITHOUT_UNIT:
        return Quantity(nanos, format_)
    unit = _UNIT
    while nanos >= 100 * unit * base:
        unit *= base
    return Quantity(-(-nanos // unit) * unit, format_)


def whole_above(wanted: Quantity, resource: Name) -> Quantity:
    """*wanted* rounded up: the API server refuses parts of a milli-CPU, and warns of parts of a byte."""
    unit = _MILLI if resource == "cpu" else _UNIT
    format_ = Format.DECIMAL if resource == "cpu" else wanted.format
    return Quantity(-(-wanted.nanos // unit) * unit, format_)


def whole_below(wanted: Quantity, resource: Name) -> Quantity:
    """The same, rounded down."""
    unit = _MILLI if resource == "cpu" else _UNIT
    format_ = Format.DECIMAL if resource == "cpu" else wanted.format
    return Quantity(wanted.nanos // unit * unit, format_)
