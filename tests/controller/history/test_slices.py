import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from nemutator_controller.history.slices import UnreadableSliceError, packed, unpacked

matrices = st.dictionaries(
    st.text(min_size=1, max_size=20),
    st.one_of(
        *(
            arrays.arrays(kind, st.tuples(st.integers(0, 9), st.integers(1, 4)))
            for kind in (np.float32, np.float64, np.uint16, np.uint8)
        )
    ),
    max_size=4,
)


@given(matrices)
def test_what_is_packed_comes_back(given_arrays: dict[str, np.ndarray]) -> None:
    back = unpacked(packed(given_arrays))
    assert list(back) == list(given_arrays)
    for name, array in given_arrays.items():
        np.testing.assert_array_equal(back[name], array)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(UnreadableSliceError):
        unpacked(content)


@given(st.integers(0, 60), st.binary(min_size=1, max_size=3))
def test_damaged_bytes_are_refused_or_read_never_worse(place: int, damage: bytes) -> None:
    whole = bytearray(packed({"time": np.arange(9, dtype=np.float32)}))
    whole[place : place + len(damage)] = damage
    with contextlib.suppress(UnreadableSliceError):
        unpacked(bytes(whole))


def test_a_bomb_is_refused() -> None:
    with pytest.raises(UnreadableSliceError):
        unpacked(packed({"time": np.zeros(10 << 20, dtype=np.uint8)}))
