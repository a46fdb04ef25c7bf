"""Amounts of CPU and memory as the brain writes them, and of time as people read it: pure."""

from collections.abc import Mapping


def millis(text: str | None) -> float | None:
    """Thousandths of a core in an amount as the brain writes it."""
    return _number(text, {"m": 1.0, "": 1_000.0})


def bytes_of(text: str | None) -> float | None:
    """The bytes in an amount as the brain writes it."""
    return _number(text, {"M": 1e6, "": 1.0})


def memory_text(text: str | None) -> str | None:
    """An amount of memory for people: plain bytes, of which nobody can see how many they are, in units."""
    amount = bytes_of(text)
    if amount is None or text is None or not text.isdecimal():
        return text
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        # In the largest unit that says it exactly; else in Mi.
        if amount >= size and (amount % size == 0 or (unit == "Mi" and amount >= 10 * size)):
            return f"{amount / size:.0f}{unit}"
    return text


def span(seconds: float) -> str:
    """Short, as kubectl writes an age: two of a unit before the next larger one is used."""
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)}{unit}"
    return f"{int(seconds)}s"


def _number(text: str | None, units: Mapping[str, float]) -> float | None:
    for unit, size in units.items():
        if text is None or not text.endswith(unit):
            continue
        digits = text.removesuffix(unit)
        if len(digits) <= 18 and digits.isascii() and digits.isdecimal():
            return int(digits) * size
    return None
