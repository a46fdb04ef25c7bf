"""The spool on a real disk: nothing that was kept is lost, and nothing is kept without an end."""

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_controller.admission.frames import LARGEST, NotSavedError
from nemutator_controller.admission.spool import CHECK_S, SEGMENT_BYTES, Spool

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

LARGE = 1 << 30


def opened(directory: Path, *, most_bytes: int = LARGE, meter: MemoryMeter | None = None) -> Spool:
    return Spool(
        directory, most_bytes=most_bytes, process=fake_process(meter=meter or MemoryMeter())
    )


def waiting(spool: Spool) -> list[tuple[int, bytes]]:
    return list(spool.first(most=10_000, most_bytes=LARGE))


def segments(directory: Path) -> list[Path]:
    return list(directory.glob("*.spool"))


def tear(segment: Path) -> None:
    """As a machine does that dies while it writes."""
    with segment.open("r+b") as file:
        file.truncate(segment.stat().st_size - 1)


async def test_records_wait_in_order_until_they_are_forgotten(tmp_path: Path) -> None:
    spool = opened(tmp_path / "spool")
    woken: list[int] = []
    spool.added = lambda: woken.append(spool.last_seq)
    for record in (b"a", b"b", b"c"):
        await spool.save(record, durable=record == b"b")
    assert woken == [1, 2, 3]
    assert waiting(spool) == [(1, b"a"), (2, b"b"), (3, b"c")]
    assert (spool.last_seq, len(spool)) == (3, 3)
    spool.forget(up_to=2)
    assert waiting(spool) == [(3, b"c")]
    assert len(spool) == 1
    spool.close()


async def test_a_new_process_goes_on_with_epoch_and_numbers(tmp_path: Path) -> None:
    first = opened(tmp_path)
    await first.save(b"a", durable=False)
    first.close()
    second = opened(tmp_path)
    assert second.epoch == first.epoch
    await second.save(b"b", durable=True)
    assert waiting(second) == [(1, b"a"), (2, b"b")]
    second.close()
    assert opened(tmp_path / "other").epoch != first.epoch


async def test_a_batch_has_at_least_one_and_no_more_than_asked(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    for _ in range(5):
        await spool.save(bytes(100), durable=False)
    assert len(spool.first(most=2, most_bytes=LARGE)) == 2
    assert len(spool.first(most=5, most_bytes=1)) == 1
    assert len(spool.first(most=5, most_bytes=1024 + 2 * 164)) == 2
    spool.close()


async def test_shipped_segments_go_and_the_numbers_stay(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    half = bytes([1]) * (SEGMENT_BYTES // 2)
    for _ in range(6):
        await spool.save(half, durable=False)
    assert len(segments(tmp_path)) == 3
    spool.forget(up_to=6)
    assert len(segments(tmp_path)) == 1
    assert waiting(spool) == []
    spool.close()
    again = opened(tmp_path)
    assert again.last_seq == 6
    again.close()


async def test_a_torn_end_costs_what_was_never_answered(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    for record in (b"a", b"b"):
        await spool.save(record, durable=False)
    spool.close()
    [segment] = segments(tmp_path)
    tear(segment)
    meter = MemoryMeter()
    again = opened(tmp_path, meter=meter)
    assert waiting(again) == [(1, b"a")]
    assert meter.value(names.SPOOL_DAMAGED, reason="torn") == 1
    await again.save(b"c", durable=False)
    assert waiting(again) == [(1, b"a"), (2, b"c")]
    again.close()
    third = opened(tmp_path)
    assert waiting(third) == [(1, b"a"), (2, b"c")]
    third.close()


async def test_its_size_is_that_of_its_files_also_after_a_torn_end(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    for length in (LARGEST, 1, LARGEST, 2):
        await spool.save(b"x" * length, durable=False)
    spool.forget(up_to=1)
    spool.close()
    tear(max(segments(tmp_path)))
    again = opened(tmp_path)
    assert len(again) == len(waiting(again)) == 2
    await again.save(b"after", durable=False)
    assert len(again) == len(waiting(again)) == 3
    # The torn end stays where it is: what follows it goes into another segment.
    assert again.size == sum(each.stat().st_size for each in segments(tmp_path))
    again.close()
    alone = tmp_path / "alone"
    first = opened(alone)
    await first.save(b"x", durable=False)
    first.close()
    tear(*segments(alone))
    torn = opened(alone)
    await torn.save(b"y", durable=False)
    assert (len(torn), torn.size) == (1, sum(each.stat().st_size for each in segments(alone)))
    torn.close()


async def test_a_record_costs_the_same_behind_many_others(tmp_path: Path) -> None:
    """The brain may be away for days: each record went through all segments that wait."""
    spool = opened(tmp_path)

    async def calls() -> int:
        count = 0

        def counted(_: object, event: str, __: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        await spool.save(b"first of a segment", durable=False)
        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            await spool.save(b"x", durable=False)
        finally:
            sys.setprofile(before)
        return count

    # The first one asks whether the file is there.
    await calls()
    few = await calls()
    for _ in range(20):
        await spool.save(b"x" * LARGEST, durable=False)
    assert len(segments(tmp_path)) > 10
    assert await calls() == few
    spool.close()


async def test_a_full_spool_takes_nothing_until_something_is_shipped(tmp_path: Path) -> None:
    record = bytes(SEGMENT_BYTES // 2)
    spool = opened(tmp_path, most_bytes=3 * SEGMENT_BYTES // 2)
    for _ in range(2):
        await spool.save(record, durable=False)
    with pytest.raises(NotSavedError) as full:
        await spool.save(record, durable=False)
    assert full.value.reason == "spool_full"
    await spool.save(b"small", durable=False)
    assert [seq for seq, _ in waiting(spool)] == [1, 2, 3]
    spool.forget(up_to=2)
    await spool.save(record, durable=False)
    spool.close()


async def test_a_record_beyond_all_measure_is_refused(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    with pytest.raises(NotSavedError) as refused:
        await spool.save(bytes(LARGEST + 1), durable=False)
    assert refused.value.reason == "too_large"
    assert spool.last_seq == 0
    spool.close()


FULL_DISK = """
    import asyncio, resource, signal, sys
    from pathlib import Path
    from nemutator_controller.admission.frames import NotSavedError
    from nemutator_controller.admission.spool import Spool
    from tests.fakes.process import fake_process

    async def main() -> None:
        spool = Spool(Path(sys.argv[1]), most_bytes=1 << 30, process=fake_process())
        await spool.save(b"a" * 100, durable=True)
        # A file that cannot grow: to the one who writes, what a full disk is.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150, resource.RLIM_INFINITY))
        try:
            await spool.save(b"b" * 100, durable=True)
        except NotSavedError as error:
            print(error.reason)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        await spool.save(b"c" * 100, durable=True)
        print([(seq, record[:1]) for seq, record in spool.first(most=9, most_bytes=1 << 20)])
        spool.close()

    asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_full_disk_leaves_no_half_record_behind(tmp_path: Path) -> None:
    def run() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(FULL_DISK), tmp_path / "spool"],
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    ran = await asyncio.to_thread(run)
    assert ran.stdout.splitlines() == ["disk", "[(1, b'a'), (2, b'c')]"], ran.stderr
    again = opened(tmp_path / "spool")
    assert [record[:1] for _, record in waiting(again)] == [b"a", b"c"]
    again.close()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


async def test_many_wait_for_the_disk_together(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(spool.save(str(number).encode(), durable=True))
    assert sorted(int(record) for _, record in waiting(spool)) == list(range(50))
    spool.close()


async def test_what_somebody_has_deleted_holds_nothing_up(tmp_path: Path) -> None:
    meter = MemoryMeter()
    spool = opened(tmp_path / "spool", meter=meter)
    await spool.save(b"a", durable=False)
    shutil.rmtree(tmp_path / "spool")
    # Nobody may ask again and again for what cannot be had.
    assert (waiting(spool), len(spool), spool.size) == ([], 0, 0)
    assert meter.value(names.SPOOL_DAMAGED, reason="unreadable") == 1
    for durable in (False, True):
        with pytest.raises(NotSavedError, match="No such file"):
            await spool.save(b"b", durable=durable)
    (tmp_path / "spool").mkdir()
    await spool.save(b"c", durable=True)
    assert waiting(spool) == [(2, b"c")]
    spool.close()


async def test_a_file_that_was_deleted_is_not_written_on(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    await spool.save(b"a", durable=False)
    segments(tmp_path)[0].unlink()
    await spool.save(b"b", durable=True)
    assert waiting(spool) == [(2, b"b")]
    spool.close()
    again = opened(tmp_path)
    assert waiting(again) == [(2, b"b")]
    again.close()


async def test_a_file_that_was_deleted_is_noticed_within_a_moment(tmp_path: Path) -> None:
    clock = ManualClock()
    spool = Spool(tmp_path, most_bytes=1 << 20, process=fake_process(clock=clock))
    spool.keep(b"a")
    spool.keep(b"seen")
    segments(tmp_path)[0].unlink()
    spool.keep(b"b")
    await clock.advance(CHECK_S)
    spool.keep(b"c")
    # What was in that file is gone, and nobody waits for it.
    assert waiting(spool) == [(4, b"c")]
    segments(tmp_path)[0].unlink()
    assert waiting(spool) == []
    spool.keep(b"d")
    assert waiting(spool) == [(5, b"d")]
    spool.close()


async def test_full_segments_reach_the_disk_with_the_one_that_is_waited_for(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    half = bytes([1]) * (SEGMENT_BYTES // 2)
    for _ in range(4):
        await spool.save(half, durable=False)
    spool.forget(up_to=2)
    await spool.save(b"last", durable=True)
    assert [len(record) for _, record in waiting(spool)] == [len(half), len(half), 4]
    spool.close()


def test_a_directory_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OperatorError, match="cannot use the spool"):
        opened(tmp_path / "file" / "spool")
