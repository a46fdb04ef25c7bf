"""CPU and memory together, exactly, and amounts of objects as numbers."""

import functools
from collections.abc import Mapping

import msgspec

from nemutator_controller.kube.quantities import QuantityError, parse_quantity


class CpuMemory(msgspec.Struct, frozen=True, gc=False):
    cpu_millis: int = 0
    memory_bytes: int = 0

    def __add__(self, other: "CpuMemory") -> "CpuMemory":
        return CpuMemory(self.cpu_millis + other.cpu_millis, self.memory_bytes + other.memory_bytes)

    def at_least(self, other: "CpuMemory") -> "CpuMemory":
        """The larger of both, each by itself."""
        return CpuMemory(
            max(self.cpu_millis, other.cpu_millis), max(self.memory_bytes, other.memory_bytes)
        )


NOTHING = CpuMemory()


def cpu_memory(amounts: Mapping[str, str]) -> CpuMemory:
    """What *amounts* has of both; what is not there, or no amount, is nothing."""
    if not amounts:
        return NOTHING
    return CpuMemory(_millis(amounts.get("cpu", "0")), _whole(amounts.get("memory", "0")))


def count(amounts: Mapping[str, str], name: str) -> int | None:
    """Whole units of *name* in *amounts*; None where they have none."""
    return _whole(amounts[name]) if name in amounts else None


@functools.lru_cache(maxsize=1 << 14)
def _millis(text: str) -> int:
    try:
        return parse_quantity(text).to_millis()
    except QuantityError:
        return 0


@functools.lru_cache(maxsize=1 << 14)
def _whole(text: str) -> int:
    try:
        return parse_quantity(text).to_bytes()
    except QuantityError:
        return 0
