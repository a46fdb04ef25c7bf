import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.packed_rows import (
    DAYS,
    Peaks,
    SavedUsage,
    UnreadableError,
    pack,
    unpack,
)

HEAD = {"points": 3, "first_at": 1.0, "last_at": 2.0, "step_s": 15.0, "heard_at": 4.0}


def unpacked(packed: bytes) -> SavedUsage:
    return unpack(packed, points=3, first_at=1.0, last_at=2.0, step_s=15.0, heard_at=4.0)


@given(
    st.lists(st.tuples(st.integers(0, 175), st.floats(0, 2.0**99, width=32)), max_size=20),
    st.floats(0, 1e12),
    st.integers(0, 2**31 - 1),
)
def test_what_is_packed_comes_back_exactly(
    weights: list[tuple[int, float]], peak: float, day: int
) -> None:
    cpu = np.zeros(176, dtype=np.float32)
    for bucket, weight in weights:
        cpu[bucket] = weight
    largest, days = np.full(DAYS, peak), np.full(DAYS, day, dtype=np.int32)
    kept = SavedUsage(
        **HEAD,  # type: ignore[arg-type]
        cpu_reference_at=5.5,
        cpu=cpu,
        memory_reference_at=6.5,
        memory=cpu[::-1],
        peaks=Peaks(7.5, 8.5, largest, days),
    )
    back = unpacked(pack(kept))
    assert (back.points, back.first_at, back.last_at, back.step_s) == (3, 1.0, 2.0, 15.0)
    assert (back.cpu_reference_at, back.memory_reference_at) == (5.5, 6.5)
    assert (back.peaks.window_end, back.peaks.window_peak) == (7.5, 8.5)
    for mine, theirs in (
        (back.cpu, cpu),
        (back.memory, cpu[::-1]),
        (back.peaks.largest, largest),
        (back.peaks.days, days),
    ):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"garbage",
        zlib.compress(b""),
        zlib.compress(bytes(100)),
        zlib.compress(bytes(10 << 20)),
        zlib.compress(b"\xff" * (4 * 8 + 352 * 4 + DAYS * 12)),
    ],
)
def test_what_is_no_row_of_ours_is_refused(packed: bytes) -> None:
    with pytest.raises(UnreadableError):
        unpacked(packed)
