import zlib
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.buckets import CPU, VPA_CPU, moved
from nemutator_controller.sizing.daily_peaks import PEAK_DAYS
from nemutator_controller.sizing.hottest import SavedReplica
from nemutator_controller.sizing.packed_rows import (
    Peaks,
    SavedUsage,
    UnreadableError,
    pack,
    pack_all,
    unpack,
)

COARSE = 4 * 8 + 352 * 4 + PEAK_DAYS * 12
"""Bytes of what brains before this version write and read."""


def row(cpu: npt.NDArray[np.float32], peak: float = 3e8, day: int = 19_675) -> SavedUsage:
    return SavedUsage(
        points=3,
        first_at=1.0,
        last_at=2.0,
        step_s=15.0,
        sampled_s=44.5,
        steps=2.75,
        heard_at=4.0,
        cpu_reference_at=5.5,
        cpu=cpu,
        peaks=Peaks(
            np.full(PEAK_DAYS, peak),
            np.full(PEAK_DAYS, day, dtype=np.int32),
            np.full(PEAK_DAYS, peak * 1.2),
        ),
        throttled=0.25,
        cpu_waiting=0.5,
        memory_waiting=0.125,
        kills=7,
        only_replica=-1,
        replicas_reference_at=6.5,
        replicas=(
            SavedReplica(replica=9, points=120, high=0.5, last_at=8.0, cpu=cpu[::-1].copy()),
        ),
    )


def unpacked(packed: bytes) -> SavedUsage:
    return unpack(packed, points=3, first_at=1.0, last_at=2.0, step_s=15.0, heard_at=4.0)


@given(
    st.lists(
        st.tuples(st.integers(0, CPU.count - 1), st.floats(0, 2.0**99, width=32)), max_size=20
    ),
    st.floats(0, 1e12),
    st.integers(0, 2**31 - 1),
)
def test_what_is_packed_comes_back_exactly(
    weights: list[tuple[int, float]], peak: float, day: int
) -> None:
    cpu = np.zeros(CPU.count, dtype=np.float32)
    for bucket, weight in weights:
        cpu[bucket] = weight
    kept = row(cpu, peak, day)
    back = unpacked(pack(kept))
    arrays = {"cpu", "peaks", "replicas"}
    for name in SavedUsage.__slots__:
        if name not in arrays:
            assert getattr(back, name) == getattr(kept, name)
    [mine], [theirs] = back.replicas, kept.replicas
    for ours, was in (
        (back.cpu, kept.cpu),
        (mine.cpu, theirs.cpu),
        (back.peaks.largest, kept.peaks.largest),
        (back.peaks.days, kept.peaks.days),
        (back.peaks.needed, kept.peaks.needed),
    ):
        assert np.array_equal(ours, was)
    assert (mine.replica, mine.points, mine.high, mine.last_at) == (9, 120, 0.5, 8.0)


def test_nothing_is_packed_into_nothing() -> None:
    assert pack_all([]) == []


def test_a_brain_of_before_reads_the_first_part_and_takes_it_for_the_whole() -> None:
    cpu = np.zeros(CPU.count, dtype=np.float32)
    cpu[12] = 4.0
    # As that version did.
    content = zlib.decompressobj().decompress(pack(row(cpu)), COARSE + 1)
    assert len(content) == COARSE
    assert np.frombuffer(content, "<f8", 4)[0] == 5.5
    vpa = np.frombuffer(content, "<f4", VPA_CPU.count, 32)
    assert vpa.tolist() == moved(cpu, CPU, VPA_CPU).tolist()
    assert vpa[1] == 4.0


def test_a_row_of_before_is_as_exact_as_it_was() -> None:
    cpu = np.zeros(CPU.count, dtype=np.float32)
    cpu[250] = 8.0
    coarse = zlib.compress(zlib.decompressobj().decompress(pack(row(cpu)), COARSE))
    back = unpacked(coarse)
    assert back.cpu.sum() == pytest.approx(8.0)
    filled = np.flatnonzero(back.cpu)
    assert filled.min() <= 250 <= filled.max()
    assert CPU.start(int(filled.max()) + 1) <= CPU.start(250) * 1.11
    assert (back.kills, back.replicas, back.peaks.needed.tolist()) == (0, (), [0.0] * PEAK_DAYS)
    assert back.peaks.largest.tolist() == [3e8] * PEAK_DAYS


def test_details_of_a_later_version_are_left_out() -> None:
    cpu = np.zeros(CPU.count, dtype=np.float32)
    coarse = zlib.compress(zlib.decompressobj().decompress(pack(row(cpu)), COARSE))
    later = coarse + zlib.compress(np.array([2, 5], dtype="<i8").tobytes())
    assert unpacked(later).kills == 0


def test_waits_of_no_version_or_of_a_later_one_are_none() -> None:
    packed = pack(row(np.zeros(CPU.count, dtype=np.float32)))
    assert unpacked(packed).cpu_waiting == 0.5
    assert unpacked(packed).sampled_s == 44.5
    for shorter in (packed[:-48], packed[:-32], packed[:-48] + np.array([2.0] * 6).tobytes()):
        back = unpacked(shorter)
        assert (back.cpu_waiting, back.memory_waiting, back.kills) == (0.0, 0.0, 7)


def test_how_much_was_sampled_is_taken_from_the_last_step_where_nobody_wrote_it() -> None:
    packed = pack(row(np.zeros(CPU.count, dtype=np.float32)))
    for shorter in (packed[:-24], packed[:-8], packed[:-24] + np.array([2.0] * 3).tobytes()):
        back = unpacked(shorter)
        assert (back.sampled_s, back.steps) == (45.0, 1 / 15)
        assert back.cpu_waiting == 0.5


def test_waits_that_are_no_numbers_are_unreadable() -> None:
    packed = pack(row(np.zeros(CPU.count, dtype=np.float32)))
    with pytest.raises(UnreadableError):
        unpacked(packed[:-8] + np.array([np.nan]).tobytes())


def test_a_row_takes_some_hundred_bytes() -> None:
    cpu = np.zeros(CPU.count, dtype=np.float32)
    cpu[5:15] = np.linspace(0.1, 40, 10)
    assert len(pack(replace(row(cpu), replicas=()))) < 500


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"garbage",
        zlib.compress(b""),
        zlib.compress(bytes(100)),
        zlib.compress(bytes(10 << 20)),
        zlib.compress(b"\xff" * COARSE),
        zlib.compress(bytes(COARSE)) + b"garbage",
        zlib.compress(bytes(COARSE)) + zlib.compress(np.array([1], dtype="<i8").tobytes()),
        zlib.compress(bytes(COARSE))
        + zlib.compress(np.array([1], dtype="<i8").tobytes() + bytes(10 << 20)),
        zlib.compress(bytes(COARSE))
        + zlib.compress(np.array([1], dtype="<i8").tobytes() + b"\xff" * 1300),
    ],
)
def test_what_is_no_row_of_ours_is_refused(packed: bytes) -> None:
    with pytest.raises(UnreadableError):
        unpacked(packed)
