"""The store of windows on a real database: what is kept, what goes, and when."""

import contextlib
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
from nemutator_common.process import Process
from nemutator_controller.ageing.owners import ByGroup
from nemutator_controller.ageing.sql import SqlWindows, WindowLimits
from nemutator_controller.ageing.trends import DAY_S
from nemutator_controller.ageing.verdicts import assess
from nemutator_controller.database.access import Database
from nemutator_controller.database.sqlite import open_sqlite

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.windows import cpu_reading, heap_reading, symbols

LIMITS = WindowLimits(seconds=10_000, bytes=1 << 30)


@contextlib.contextmanager
def store(root: Path, process: Process, limits: WindowLimits = LIMITS) -> Iterator[SqlWindows]:
    engines = open_sqlite(root / "brain.db", largest_bytes=1 << 30)
    database = Database(engines, make_room=lambda _: 0, process=process)
    with contextlib.closing(database):
        yield SqlWindows(database, limits, process)


async def keep(windows: SqlWindows, *records: object) -> None:
    content = [msgspec.to_builtins(one) for one in records]
    await windows.database.write(lambda connection: windows.record(connection, "n", content))


async def owned(windows: SqlWindows) -> None:
    found = {one.id: ByGroup().of(one) for one in await windows.unowned(100)}
    await windows.own({key: one for key, one in found.items() if one is not None})


async def test_a_deploy_starts_anew(tmp_path: Path) -> None:
    with store(tmp_path, fake_process(clock=ManualClock(now=9_000.0))) as windows:
        old = heap_reading(at=2_000.0)
        process = replace(old.process, image="cd34", started_at=3_000.0, pid=43)
        await keep(windows, symbols(), old, replace(old, at=3_500.0, process=process))
        await owned(windows)
        (changed,) = await windows.changed_since(0.0)
        assert changed.image == "cd34"
        assert await windows.changed_since(3_500.0) == []
        ((source, kept),) = (await windows.history(changed.workload)).items()
        assert (source.image, [one.at for one in kept]) == ("cd34", [3_500.0])
        sites = [site for one in kept for site in one.sites or ()]
        (frames,) = (await windows.frames(sites)).values()
        assert frames[0].function == "main.remember"


async def test_a_function_that_takes_more_and_more_is_named_from_cpu_windows(
    tmp_path: Path,
) -> None:
    dice = random.Random(7)
    now = 1_000.0 + 4 * DAY_S
    readings = []
    for at in range(2_000, int(now), 1_800):
        share = 0.1 if at < now - DAY_S else 0.3
        parsing = sum(dice.random() < share for _ in range(200))
        readings.append(cpu_reading(at=float(at), samples=200, parsing=parsing))
    with store(tmp_path, fake_process(clock=ManualClock(now=now))) as windows:
        await keep(windows, symbols(), *readings)
        await owned(windows)
        (changed,) = await windows.changed_since(0.0)
        history = await windows.history(changed.workload)
        ids = {
            function
            for kept in history.values()
            for one in kept
            for function in one.functions or ()
        }
        frames = await windows.frames(ids)
    found = assess(changed.workload, history, frames, now=now)
    assert (found.verdict, found.measure, found.state) == ("hot spot grew", "cpu", "firm")
    (function,) = found.functions
    assert (function.function, function.file, function.line) == ("main.parse", "/src/parse.go", 12)
    assert (round(function.share_before, 1), round(function.share_now, 1)) == (0.1, 0.3)


async def test_a_process_whose_image_was_not_known_at_first_is_of_that_image(
    tmp_path: Path,
) -> None:
    with store(tmp_path, fake_process(clock=ManualClock(now=9_000.0))) as windows:
        unknown = heap_reading(at=2_000.0)
        unknown = replace(unknown, process=replace(unknown.process, image=""), heap=None)
        await keep(windows, heap_reading(at=2_600.0), unknown)
        await owned(windows)
        (changed,) = await windows.changed_since(0.0)
        assert changed.image == "ab12"
        ((source, _),) = (await windows.history(changed.workload)).items()
        assert source.image == "ab12"


async def test_old_windows_go_and_what_belonged_to_them(tmp_path: Path) -> None:
    clock = ManualClock(now=9_000.0)
    with store(tmp_path, fake_process(clock=clock)) as windows:
        await keep(windows, *(heap_reading(at=2_000.0 + place) for place in range(5)))
        await owned(windows)
        assert await windows.prune() == {}
        assert len(await windows.known()) == 1
        clock.jump(3_002.5)
        assert await windows.prune() == {"age": 3}
        clock.jump(1_000.0)
        assert await windows.prune() == {"age": 2}
        assert await windows.known() == frozenset()


async def test_the_oldest_go_when_there_are_too_many_bytes(tmp_path: Path) -> None:
    limits = WindowLimits(seconds=10_000, bytes=1)
    with store(tmp_path, fake_process(clock=ManualClock(now=9_000.0)), limits) as windows:
        await keep(windows, *(heap_reading(at=2_000.0 + place) for place in range(5)))
        assert await windows.prune() == {"bytes": 5}


async def test_a_workload_has_its_quota(tmp_path: Path) -> None:
    limits = WindowLimits(seconds=10_000, bytes=1 << 30, of_a_workload=4)
    with store(tmp_path, fake_process(clock=ManualClock(now=9_000.0)), limits) as windows:
        await keep(windows, *(heap_reading(at=2_000.0 + place) for place in range(10)))
        await owned(windows)
        assert await windows.prune() == {"quota": 6}
        (changed,) = await windows.changed_since(0.0)
        (kept,) = (await windows.history(changed.workload)).values()
        assert [one.at for one in kept] == [2_006.0, 2_007.0, 2_008.0, 2_009.0]
