import pytest
from nemutator_ctl.shown_amounts import bytes_of, millis


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
