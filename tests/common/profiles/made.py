"""Profiles as hypothesis makes them, true to what the model promises."""

import dataclasses
from typing import get_args

from hypothesis import strategies as st
from nemutator_common.profiles.grade import Break, Grade, Verdict
from nemutator_common.profiles.model import (
    Binary,
    Frame,
    FrameKind,
    FrameTable,
    Profile,
    merged,
)

WORDS = st.text("abcdefgh_", min_size=1, max_size=8)
PRINTABLE = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
TEXTS = st.text(PRINTABLE, max_size=40)
BINARIES = st.builds(
    Binary,
    file=TEXTS.map("/{}".format),
    build_id=st.binary(max_size=20).map(bytes.hex),
    start=st.integers(0, 1 << 48),
    limit=st.integers(0, 1 << 48),
    offset=st.integers(0, 1 << 32),
)
FRAMES = st.builds(
    Frame,
    function=TEXTS,
    file=TEXTS,
    line=st.integers(0, 1 << 30),
    start_line=st.integers(0, 1 << 30),
    kind=st.sampled_from(get_args(FrameKind)),
    inlined=st.booleans(),
)
NUMBERS = st.integers(1, 1 << 40)
GRADES = st.builds(
    Grade,
    rooted=st.integers(0, 1 << 40),
    broken=st.dictionaries(st.sampled_from(get_args(Break)), NUMBERS),
    calls=st.dictionaries(st.sampled_from(get_args(Verdict)), NUMBERS),
)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    table = FrameTable()
    stacks = []
    for chosen in draw(st.lists(st.lists(FRAMES, max_size=6), max_size=8)):
        whole: list[Frame] = []
        for frame in reversed(chosen):
            # What is inlined is so into a caller, and is where that is.
            caller = whole[-1] if whole else None
            inlined = frame.inlined and caller is not None
            frame = dataclasses.replace(frame, inlined=inlined)
            if caller is not None and inlined:
                frame = dataclasses.replace(
                    frame, kind=caller.kind, address=caller.address, binary=caller.binary
                )
            elif frame.kind in ("go", "native"):
                address, binary = draw(st.integers(0, 1 << 48)), draw(st.none() | BINARIES)
                frame = dataclasses.replace(frame, address=address, binary=binary)
            whole.append(frame)
        numbers = tuple(table.number(frame) for frame in reversed(whole))
        stacks.append((numbers, draw(st.integers(1, 10_000))))
    return Profile(
        hz=draw(st.integers(1, 10_000)),
        started_at=draw(st.integers(0, 1 << 31)) / 1,
        seconds=draw(st.integers(0, 3600)) / 1,
        frames=table.frames,
        stacks=merged(stacks),
        recorded=sum(count for _, count in stacks),
        lost=draw(st.dictionaries(WORDS, st.integers(0, 1000), max_size=3)),
        cpu_seconds=draw(st.none() | st.floats(0, 1e6)),
        notes=tuple(draw(st.lists(TEXTS, max_size=3))),
        labels=draw(st.dictionaries(WORDS, TEXTS, max_size=3)),
        grade=draw(st.none() | GRADES),
    )


MAIN = Frame("main.main", "main.go", 10, 8, "go")
WORK = Frame("main.work", "main.go", 20, 18, "go")
ADD = Frame("main.add", "main.go", 30, 29, "go", inlined=True)
KERNEL = Frame("do_syscall_64", kind="kernel")


def small() -> Profile:
    """main → work → add (inlined), 6 samples; main → kernel, 3; main alone, 1."""
    return Profile(
        hz=100,
        started_at=1_700_000_000.0,
        seconds=10.0,
        frames=(MAIN, WORK, ADD, KERNEL),
        stacks=(((2, 1, 0), 6), ((3, 0), 3), ((0,), 1)),
        recorded=10,
        lost={"truncated": 2},
        cpu_seconds=0.125,
        notes=("a note",),
        labels={"pod": "shop/cart"},
    )
