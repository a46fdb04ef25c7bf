"""Amounts as Kubernetes writes them: `250m`, `1.5Gi`, `1e3`.

Whatever its suffix, an amount is a whole number of nanos: apimachinery rounds what is finer away
from zero when it parses, so integers are exact and no float is ever involved. Parsing, the
canonical text and arithmetic are apimachinery's (tests/golden/apimachinery has its answers), its
leniency included: an API server stores `-` and `Ki` for zero, so we must be able to read them.
It differs on purpose where apimachinery loses the amount or does not end:

- beyond the largest suffix it drops the suffix (`1000E` prints as `1`); here it prints as `1000E`;
- text longer than `LONGEST` and exponents above `LARGEST_EXPONENT` are refused, never computed.
"""

import enum
import re

import msgspec

LONGEST = 128
"""In characters. Every amount of a 64-bit counter fits into 29; what is longer is hostile."""

LARGEST_EXPONENT = 300
"""As far as a float reaches: an exponent costs its writer 10 bytes, and us that many digits."""

_PER_UNIT = 10**9
_BINARY_CAP = (2**63 - 1) * _PER_UNIT

# Digits, not \d: other scripts' digits are not Kubernetes'.
_QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {0: "", **{exponent: suffix for suffix, exponent in _BINARY.items()}}


class QuantityError(ValueError):
    """The text is not a quantity."""


class Format(enum.Enum):
    """The family of suffixes that an amount was written with, and keeps."""

    BINARY = "BinarySI"
    DECIMAL = "DecimalSI"
    EXPONENT = "DecimalExponent"


class Quantity(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An exact amount. Two are equal when their amounts are, however they were written.

    `str()` is the canonical text: the largest suffix of its format that needs no fraction.
    """

    nanos: int
    format: Format = Format.DECIMAL

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __ne__(self, other: object) -> bool:
        # Structs have their own, which does not ask the one above.
        return self.nanos != other.nanos if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: "Quantity") -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: "Quantity") -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: "Quantity") -> bool:
        return self.nanos >= other.nanos

    def to_millis(self) -> int:
        """Thousandths, rounded away from zero."""
        return _rounded_up(self.nanos, 10**6)

    def to_bytes(self) -> int:
        """Whole units, rounded away from zero."""
        return _rounded_up(self.nanos, _PER_UNIT)

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos + other.nanos, self._format_with(other))

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos - other.nanos, self._format_with(other))

    def __neg__(self) -> "Quantity":
        return Quantity(-self.nanos, self.format)

    def __mul__(self, factor: int) -> "Quantity":
        return Quantity(self.nanos * factor, self.format)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __str__(self) -> str:
        if self.nanos == 0:
            return "0"
        whole, rest = divmod(self.nanos, _PER_UNIT)
        # Binary suffixes would have to round a fraction, and gain nothing below 1024.
        if self.format is Format.BINARY and not rest and abs(whole) >= 1024:
            mantissa, exponent = _without_factors(whole, 1024, most=max(_BINARY_SUFFIX))
            return f"{mantissa}{_BINARY_SUFFIX[exponent]}"
        if self.format is Format.EXPONENT:
            mantissa, thousands = _without_factors(self.nanos, 1000)
            exponent = 3 * thousands - 9
            return f"{mantissa}e{exponent}" if exponent else str(mantissa)
        mantissa, thousands = _without_factors(self.nanos, 1000, most=(18 + 9) // 3)
        return f"{mantissa}{_DECIMAL_SUFFIX[3 * thousands - 9]}"

    def _format_with(self, other: "Quantity") -> Format:
        """The left side's, unless it is zero: a sum that starts at 0 becomes what is added."""
        return self.format if self else other.format


def parse_quantity(text: str) -> Quantity:
    """*text* as an amount, or a `QuantityError` that says what is wrong with it."""
    if len(text) > LONGEST:
        raise QuantityError(f"{text[:20]!r}…: longer than {LONGEST} characters")
    match = _QUANTITY.fullmatch(text)
    if match is None or not text:
        raise QuantityError(f"{text!r}: expected a number with a suffix such as m, k, Mi, e3")
    sign, whole, fraction, suffix = match.groups(default="")
    digits = int(whole + fraction or "0")
    format_, numerator, denominator = _scale(text, suffix, len(fraction))
    nanos = _rounded_up(digits * numerator * _PER_UNIT, denominator)
    if format_ is Format.BINARY:
        nanos = min(nanos, _BINARY_CAP)
        if 0 < nanos < _PER_UNIT:
            format_ = Format.DECIMAL
    return Quantity(-nanos if sign == "-" else nanos, format_)


def _scale(text: str, suffix: str, places: int) -> tuple[Format, int, int]:
    """What the digits of *text*, *places* of them behind the point, are times and divided by."""
    if suffix in _BINARY:
        return Format.BINARY, 1024 ** _BINARY[suffix], 10**places
    if suffix in _DECIMAL:
        format_, exponent = Format.DECIMAL, _DECIMAL[suffix]
    elif match := _EXPONENT.fullmatch(suffix):
        # The smallest amount is one nano, so far below it every exponent means the same.
        format_, exponent = Format.EXPONENT, max(int(match[1]), -LARGEST_EXPONENT)
    else:
        raise QuantityError(f"{text!r}: unknown suffix {suffix!r}")
    if exponent > LARGEST_EXPONENT:
        raise QuantityError(f"{text!r}: the exponent is above {LARGEST_EXPONENT}")
    return format_, 10 ** max(exponent, 0), 10 ** (places + max(-exponent, 0))


def _rounded_up(amount: int, unit: int) -> int:
    """*amount* in whole *unit*s, away from zero: a small request does not become nothing."""
    return -(-amount // unit) if amount >= 0 else amount // unit


def _without_factors(amount: int, base: int, *, most: int | None = None) -> tuple[int, int]:
    """*amount* as mantissa and exponent of *base*, the exponent as large as exactness allows."""
    exponent = 0
    while exponent != most and amount % base == 0:
        amount //= base
        exponent += 1
    return amount, exponent
