"""The room that is kept free, as a table and a sentence."""

from dataclasses import dataclass

import msgspec

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

BUFFERS_PATH = "/api/v1/buffers"
WIDTH = 400

LAYOUT = (
    Column("WHAT KEEPS ROOM FREE", limit=70),
    Column("PODS", right=True),
    Column("WANTED", right=True),
)


@dataclass(frozen=True, slots=True)
class ListedBuffer:
    kind: str
    namespace: str
    name: str
    pods: int


@dataclass(frozen=True, slots=True)
class BufferPodSize:
    cpu_cores: Amount
    memory_bytes: Amount


class ListedBuffers(msgspec.Struct, frozen=True):
    most: int
    why: str
    items: tuple[ListedBuffer, ...]
    wanted: int | None = None
    problem: str = ""
    pod: BufferPodSize | None = None


def decode(document: object) -> ListedBuffers:
    return understood(document, ListedBuffers, "the room that is kept free")


def overview(found: ListedBuffers) -> str:
    rows = [
        (
            f"{one.kind} {one.namespace}/{one.name}",
            str(one.pods),
            "?" if found.wanted is None else str(0 if number else found.wanted),
        )
        for number, one in enumerate(found.items)
    ]
    lines = [table(LAYOUT, rows)] if rows else []
    lines.append(f"{visible(found.why, limit=WIDTH)}\n")
    if found.problem:
        lines.append(f"it does not stand: {visible(found.problem, limit=WIDTH)}\n")
    if found.pod is not None:
        lines.append(
            f"each pod keeps {found.pod.cpu_cores:g} cores and {found.pod.memory_bytes / (1 << 30):.2f} GiB free; "
            f"brain.buffer_pods allows {found.most}\n"
        )
    return "".join(lines)
