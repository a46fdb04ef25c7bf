"""How many times the CPU of a node may be requested: exactly, in hundredths and thousandths of a core."""

import re

from nemutator_controller.kube.quantities import Quantity, QuantityError, parse_quantity

ONE = 100
"""Nothing is oversold."""
MOST = 200
"""Whatever anybody asks for: twice."""

_RATIO = re.compile(r"([12])(?:\.([0-9]{1,2}))?")
_MILLI = 10**6


def parse_ratio(text: str) -> int | None:
    """*text* as hundredths; None: it is no ratio from 1 to 2, as somebody may have written anything there."""
    found = _RATIO.fullmatch(text)
    if found is None:
        return None
    ratio = 100 * int(found[1]) + int((found[2] or "").ljust(2, "0"))
    return ratio if ONE <= ratio <= MOST else None


def ratio_text(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"


def hundredths_of(ratio: float) -> int:
    return max(ONE, min(MOST, round(100 * ratio)))


def amplified(raw_millis: int, hundredths: int) -> int:
    """Never a thousandth of a core more than the ratio allows."""
    return raw_millis * hundredths // 100


def least_ratio(requested_millis: int, raw_millis: int) -> int:
    """The smallest with which what is requested fits."""
    return max(ONE, -(-100 * requested_millis // raw_millis))


def cpu_text(millis: int) -> str:
    return str(Quantity(millis * _MILLI))


def cpu_millis(text: str | None) -> int | None:
    """Whole thousandths of a core, and more than none of them; None: *text* does not say that."""
    if text is None:
        return None
    try:
        millis = parse_quantity(text).nanos // _MILLI
    except QuantityError:
        return None
    return millis if millis > 0 else None
