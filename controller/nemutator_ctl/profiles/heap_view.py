"""A heap profile for people: how much is in use, and who has allocated it."""

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import functions

from nemutator_ctl.function_table import function_table, mebibytes
from nemutator_ctl.profiles.requests import ShownProfile
from nemutator_ctl.profiles.view import flame_graph
from nemutator_ctl.terminal_text import visible


def heap_view(profile: ShownProfile, heap: HeapProfile, *, signing_in: str) -> str:
    title, total = visible(profile.title, limit=100), heap.total
    lines = [
        f"{title}: {mebibytes(total.bytes_in_use)} in use in {total.objects_in_use} objects",
        f"  allocated since the start: {mebibytes(total.bytes)} in {total.objects} objects",
        *(f"  note: {visible(note, limit=200)}" for note in heap.notes),
        "",
    ]
    return "\n".join(lines) + "\n" + _functions(heap) + flame_graph(profile, signing_in)


def _functions(heap: HeapProfile) -> str:
    found = functions(heap)
    total = sum(one.flat for one in found)
    if not total:
        return "Nothing that was recorded is in use.\n"
    return function_table(found, total, amount=mebibytes, places=_places(heap))


def _places(heap: HeapProfile) -> dict[str, str]:
    """The file and line at which each function has most of its own in use."""
    most: dict[str, int] = {}
    places: dict[str, str] = {}
    for stack, size in heap.stacks:
        frame = heap.frames[stack[0]] if stack else None
        if frame is not None and frame.file and size > most.get(frame.function, 0):
            most[frame.function] = size
            places[frame.function] = f"{frame.file.rpartition('/')[2]}:{frame.line}"
    return places
