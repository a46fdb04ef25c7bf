"""Real programs that age on purpose, or only seem to, a hundred times as fast as programs do.

`make bench NAME=ageing-programs`. Each is read from outside by the agent's own parts, what they send is
stored by the brain's, and judged once. Their growth is compressed in time, so only provisional verdicts can
come; `make bench NAME=ageing` has simulated weeks for firm ones.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nemutator_common.system_clock import SystemClock
from nemutator_common.windows import WindowReading
from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.owners import ByGroup
from nemutator_controller.ageing.sentences import sentence
from nemutator_controller.ageing.sql import SqlWindows, WindowLimits
from nemutator_controller.ageing.verdicts import assess
from nemutator_controller.database.access import Database
from nemutator_controller.database.sqlite import open_sqlite

from tests.bench.frame import Result, aim
from tests.e2e.window_node import Node
from tests.fakes.process import fake_process
from tests.fakes.window_parts import ListSink

SECONDS = float(os.environ.get("SECONDS", "90"))
EVERY_S = 3.0
AFTER_S = 20.0

MB_PER_MIN = 32 * 1024 * 10 * 60 / 1e6
"""What those that leak keep, where they are not held up."""


@dataclass(frozen=True, slots=True)
class Expected:
    verdict: str
    where: str = ""
    """A part of the function whose line grows; empty where no line does."""


KINDS: Mapping[str, Expected] = {
    "slice": Expected("leak", "main.growSlice"),
    "map": Expected("leak", "main.growMap"),
    "timer": Expected("leak", "main.startTimer"),
    "goroutines": Expected("leak"),
    "cache": Expected("steady"),
    "load": Expected("steady"),
    "garbage": Expected("steady"),
}


def bench() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_findings(Path(folder)))
    measured = {
        kind: {
            "said": sentence(one),
            "readings": one.readings,
            "mb_per_min": round(one.rate_per_min / 1e6, 2) if one.measure != "goroutines" else None,
            "from_to": [round(one.first_level), round(one.last_level)],
        }
        for kind, one in found.items()
    }
    right = [kind for kind, expected in KINDS.items() if _is_right(found.get(kind), expected)]
    return Result(
        {"seconds": SECONDS, "leaks_mb_per_min": round(MB_PER_MIN, 1), "programs": measured},
        (aim("programs with the right verdict", len(right), ">=", len(KINDS)),),
    )


def _is_right(found: AgeingFinding | None, expected: Expected) -> bool:
    if found is None or found.verdict != expected.verdict:
        return False
    if not expected.where:
        return not found.sites
    return any(expected.where in one.function for site in found.sites[:1] for one in site.stack)


async def _findings(folder: Path) -> Mapping[str, AgeingFinding]:
    with contextlib.ExitStack() as stack:
        pids = {kind: stack.enter_context(_running(kind, folder)) for kind in KINDS}
        node = Node(*pids.values())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                await node.heap_readings(every_s=EVERY_S).run()
    return await _judged(folder, node.sink)


@contextlib.contextmanager
def _running(kind: str, folder: Path) -> Iterator[int]:
    program = folder / kind
    if not (built := folder / "built").exists():
        go = shutil.which("go")
        assert go is not None, "it takes a Go that can be found on the PATH"
        subprocess.run(
            [go, "build", "-trimpath", "-buildvcs=false", "-o", built, "."],
            cwd=Path(__file__).parent / "ageing_go", check=True,
            env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
        )  # fmt: skip
    shutil.copy(built, program)
    # All allocations are recorded: compressed in time, so many as usual do not come.
    environment = {**os.environ, "GODEBUG": "memprofilerate=4096"}
    with subprocess.Popen([program], stdin=subprocess.PIPE, env=environment) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def _judged(folder: Path, sink: ListSink) -> Mapping[str, AgeingFinding]:
    process = fake_process(clock=SystemClock())
    engines = open_sqlite(folder / "brain.db", largest_bytes=1 << 30)
    database = Database(engines, make_room=lambda _: 0, process=process)
    with contextlib.closing(database):
        store = SqlWindows(database, WindowLimits(seconds=1e9, bytes=1 << 30), process)
        records: Sequence[dict[str, object]] = [msgspec.to_builtins(one) for one in sink.records]
        await database.write(lambda connection: store.record(connection, "n", records))
        owned = {one.id: ByGroup().of(one) for one in await store.unowned(100)}
        await store.own({key: one for key, one in owned.items() if one is not None})
        found = {}
        now = max(one.at for one in sink.records if isinstance(one, WindowReading))
        for changed in await store.changed_since(0.0):
            history = await store.history(changed.workload)
            ids = {
                site for windows in history.values() for one in windows for site in one.sites or ()
            }
            found[changed.workload.program] = assess(
                changed.workload, history, await store.frames(ids), now=now, after_s=AFTER_S
            )
    return found
