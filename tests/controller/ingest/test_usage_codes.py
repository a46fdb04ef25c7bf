import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.usage_codes import (
    LARGEST,
    CoarseScale,
    FineScale,
    ShareScale,
    decode_fine,
    encode_fine,
    encode_fine_known,
)

used = st.floats(min_value=1e-9, max_value=LARGEST)
CPU = CoarseScale(1e-4)


@given(st.lists(used, min_size=1))
def test_a_fine_code_is_exact_to_a_thousandth(values: list[float]) -> None:
    back = decode_fine(encode_fine(np.array(values)))
    assert np.allclose(back, values, rtol=0.001, atol=0)


@given(st.lists(used, min_size=1))
def test_codes_rise_with_what_they_stand_for(values: list[float]) -> None:
    ordered = np.sort(np.array(values))
    assert (np.diff(encode_fine(ordered).astype(int)) >= 0).all()
    assert (np.diff(CPU.encode(ordered).astype(int)) >= 0).all()


@given(st.integers(0, 65_535), st.integers(0, 255))
def test_a_code_comes_back_from_what_it_stands_for(fine: int, coarse: int) -> None:
    assert encode_fine_known(decode_fine(np.array([fine], dtype=np.uint16))) == fine
    value = CPU.decode(np.array([coarse], dtype=np.uint8))
    assert CPU.encode(value) == coarse
    assert CPU.encode_up(value) == coarse


def test_nothing_known_and_zero_are_two_things() -> None:
    values = np.array([np.nan, 0.0, 1.0])
    for back in (
        decode_fine(encode_fine_known(values)),
        CPU.decode(CPU.encode(values)),
        CPU.decode(CPU.encode_up(values)),
    ):
        assert np.isnan(back[0])
        assert back[1] == 0.0
        assert 0.9 < back[2] < 1.1


@given(st.floats(min_value=1e-4, max_value=2000.0))
def test_a_coarse_code_is_exact_to_a_thirtieth_and_a_maximum_is_rounded_up(value: float) -> None:
    near, up = (
        CPU.decode(code)[0]
        for code in (CPU.encode(np.array([value])), CPU.encode_up(np.array([value])))
    )
    assert abs(near - value) <= 0.036 * value
    assert value * (1 - 1e-8) <= up <= value * 1.071


def test_what_is_too_large_gets_the_last_code_and_what_is_tiny_is_zero() -> None:
    assert CPU.encode(np.array([1e30]))[0] == 255
    assert CPU.decode(CPU.encode(np.array([1e-9])))[0] == 0.0


@given(st.floats(min_value=0.0, max_value=1.0))
def test_a_share_is_exact_to_a_five_hundredth_and_its_ends_are_exact(share: float) -> None:
    back = ShareScale().decode(ShareScale().encode(np.array([share, 0.0, 1.0, np.nan])))
    assert abs(back[0] - share) <= 0.002
    assert back[1:3].tolist() == [0.0, 1.0]
    assert np.isnan(back[3])


def test_singles_are_what_all_codes_stand_for() -> None:
    for scale, code in ((FineScale(), np.uint16), (CPU, np.uint8), (ShareScale(), np.uint8)):
        codes = np.arange(np.iinfo(code).max + 1, dtype=code)
        assert scale.singles.dtype == np.float32
        np.testing.assert_array_equal(scale.singles[codes], scale.decode(codes).astype(np.float32))  # type: ignore[arg-type]
