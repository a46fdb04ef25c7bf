"""Allocation stacks of a workload's processes, as graphs and folded text take them."""

from collections.abc import Mapping, Sequence

from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, FrameTable, Stack
from nemutator_common.windows import SymbolFrame

from nemutator_controller.ageing.model import KeptWindow, WindowSource

History = Mapping[WindowSource, Sequence[KeptWindow]]
Frames = Mapping[str, tuple[SymbolFrame, ...]]


def in_use(history: History, frames: Frames, *, first: bool = False) -> HeapProfile:
    """What sites use in the newest reading of each process, or in its *first*, all together."""
    table = FrameTable()
    found: dict[Stack, Allocated] = {}
    began = 0.0
    for windows in history.values():
        with_sites = [one for one in windows if one.sites]
        if not with_sites:
            continue
        chosen = with_sites[0 if first else -1]
        began = max(began, chosen.at)
        for site, amounts in (chosen.sites or {}).items():
            known = frames.get(site) or (SymbolFrame("[no_name]"),)
            stack = tuple(table.number(_frame(one)) for one in known)
            more = Allocated(
                amounts.allocated_objects,
                amounts.allocated_bytes,
                amounts.in_use_objects,
                amounts.in_use_bytes,
            )
            found[stack] = found.get(stack, Allocated()).plus(more)
    return HeapProfile(started_at=began, rate=0, frames=table.frames, sites=tuple(found.items()))


def _frame(symbol: SymbolFrame) -> Frame:
    return Frame(symbol.function, symbol.file, symbol.line, kind="go")
