"""Allocation stacks of a workload's processes, as graphs and folded text take them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.profiles.model import Frame, FrameTable, Stack, merged
from nemutator_common.windows import SymbolFrame

from nemutator_controller.ageing.model import KeptWindow, WindowSource

History = Mapping[WindowSource, Sequence[KeptWindow]]
Frames = Mapping[str, tuple[SymbolFrame, ...]]


@dataclass(frozen=True, slots=True)
class AllocationStacks:
    """A `WeighedStacks`: each stack with its bytes in use."""

    frames: tuple[Frame, ...]
    stacks: tuple[tuple[Stack, int], ...]


def in_use(history: History, frames: Frames, *, first: bool = False) -> AllocationStacks:
    """What sites use in the newest reading of each process, or in its *first*, all together."""
    table = FrameTable()
    weighed: list[tuple[Stack, int]] = []
    for windows in history.values():
        with_sites = [one.sites for one in windows if one.sites]
        if not with_sites:
            continue
        for site, amounts in with_sites[0 if first else -1].items():
            known = frames.get(site) or (SymbolFrame("[no_name]"),)
            stack = tuple(table.number(_frame(one)) for one in known)
            weighed.append((stack, amounts.in_use_bytes))
    return AllocationStacks(table.frames, merged(weighed))


def _frame(symbol: SymbolFrame) -> Frame:
    return Frame(symbol.function, symbol.file, symbol.line, kind="go")
