"""What was allocated in all, from what was recorded: one of so many bytes, and all of large objects."""

import math

LARGEST = 1 << 62
"""The largest sum that a profile can hold."""


def estimated(objects: int, size: int, rate: int) -> tuple[int, int]:
    """*objects* of *size* bytes together, as if each were recorded. An object is recorded with a
    probability that grows with its size, as runtime/pprof has it, too."""
    if objects <= 0 or size <= 0:
        return 0, 0
    if rate <= 1:
        return objects, size
    scale = 1 / -math.expm1(-size / objects / rate)
    return min(int(objects * scale), LARGEST), min(int(size * scale), LARGEST)
