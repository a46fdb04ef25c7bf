import argparse

import pytest
from nemutator_init.waits import wait


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("120s", 120), ("0.25", 0.25), ("9999s", 9999)]
)
def test_seconds_are_understood(text: str, seconds: float) -> None:
    assert wait(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1", "nan", "inf", "1e9", "10000", "1m", "1.", " 1"])
def test_anything_else_is_not(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected seconds"):
        wait(text)
