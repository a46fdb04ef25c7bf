import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.shown_amounts import bytes_of, memory_text, millis, span


@pytest.mark.parametrize(
    ("text", "expected"), [("500m", 500), ("2", 2_000), (None, None), ("x", None), ("", None)]
)
def test_cpu_is_read_as_the_brain_writes_it(text: str | None, expected: float | None) -> None:
    assert millis(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("230M", 230e6), ("1024", 1_024), ("1Gi", None), ("٣", None)]
)
def test_memory_is_read_as_the_brain_writes_it(text: str, expected: float | None) -> None:
    assert bytes_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("268435456", "256Mi"),
        ("2147483648", "2Gi"),
        ("1500000000", "1431Mi"),
        ("4096", "4Ki"),
        ("1000", "1000"),
        ("230M", "230M"),
        ("x", "x"),
        (None, None),
    ],
)
def test_plain_bytes_are_shown_in_units(text: str | None, expected: str | None) -> None:
    assert memory_text(text) == expected


@given(st.floats(0, 1e9))
def test_a_span_is_short(seconds: float) -> None:
    assert len(span(seconds)) <= 6


def test_a_span_changes_its_unit_at_two_of_them() -> None:
    assert [span(s) for s in (119, 120, 7199, 7200, 172_800)] == ["119s", "2m", "119m", "2h", "2d"]
