"""How long a profile takes to be written as pprof and to be read again, and what reading it takes."""

import itertools
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Binary, Frame, FrameTable, Profile, merged

from tests.bench.frame import Result, aim

RUNS = 7
DEPTH = 20
AIM_MS = {2_000: 57.0, 10_000: 215.0}


def bench() -> Result:
    measured = {str(stacks): _measured(made(stacks)) for stacks in AIM_MS}
    return Result(
        measured=measured,
        aims=tuple(
            aim(f"ms to read {stacks} stacks", measured[str(stacks)]["decode_ms"], "<=", wanted)
            for stacks, wanted in AIM_MS.items()
        ),
    )


def made(stacks: int) -> Profile:
    """As of a large Go service: half as many places as stacks, each the call of a function or of
    one with another inlined into it; twenty such calls deep."""
    dice = random.Random(7)
    binary = Binary("/srv/app", "c0ffee" * 6, 0x400000, 0x4000000, 0x1000)
    table = FrameTable()
    calls = []
    for number in range(stacks // 2):
        outer = Frame(
            f"github.com/example/service/internal/room{number % 97}.(*Server).handle{number}",
            f"/src/internal/room{number % 97}/file{number % 11}.go",
            number % 900 + 20,
            number % 900 + 1,
            "go",
            address=0x400000 + number * 64,
            binary=binary,
        )
        inner = replace(outer, function=f"{outer.function}.func1", inlined=True)
        calls.append(tuple(map(table.number, (inner, outer) if number % 2 else (outer,))))
    rows = [
        (tuple(itertools.chain.from_iterable(dice.choices(calls, k=DEPTH))), dice.randrange(1, 100))
        for _ in range(stacks)
    ]
    return Profile(
        hz=99,
        started_at=1_700_000_000.0,
        seconds=30.0,
        frames=table.frames,
        stacks=merged(rows),
        recorded=sum(count for _, count in rows),
    )


def _measured(profile: Profile) -> dict[str, float]:
    content = pprof.encode(profile)
    tracemalloc.start()
    pprof.decode(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "bytes": len(content),
        "encode_ms": _median_ms(lambda: pprof.encode(profile)),
        "decode_ms": _median_ms(lambda: pprof.decode(content)),
        "decode_python_mib": round(most / (1 << 20), 1),
    }


def _median_ms(work: Callable[[], object]) -> float:
    return round(statistics.median(_cpu_ms(work) for _ in range(RUNS)), 1)


def _cpu_ms(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e3
