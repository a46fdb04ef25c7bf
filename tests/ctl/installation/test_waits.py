import argparse

import pytest
from nemutator_ctl.installation.waits import seconds


@pytest.mark.parametrize(
    ("text", "wanted"), [("90s", 90), ("5m", 300), ("1h30m", 5400), ("0s", 0), ("1.5s", 1.5)]
)
def test_durations_are_read_as_kubectl_reads_them(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "-1s", "1s1m", "abc"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no duration"):
        seconds(text)
