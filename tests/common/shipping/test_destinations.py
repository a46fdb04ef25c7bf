from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.shipping.destinations import (
    LocalBrain,
    RemoteBrain,
    destination,
    parse_destination,
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("unix:/run/brain.sock", LocalBrain(Path("/run/brain.sock"))),
        (
            "https://nemutator-brain.nemutator.svc:8421",
            RemoteBrain("nemutator-brain.nemutator.svc", 8421),
        ),
        ("https://10.0.0.1:443", RemoteBrain("10.0.0.1", 443)),
        ("https://[fd00::1]:8421", RemoteBrain("[fd00::1]", 8421)),
    ],
)
def test_a_destination_is_read_as_it_is_written(text: str, meant: LocalBrain | RemoteBrain) -> None:
    assert parse_destination(text) == meant
    assert str(meant) == text
    assert destination(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "http://10.0.0.1:80",
        "127.0.0.1:8420",
        "unix:relative",
        "https://host",
        "https://host:0",
        "https://host:65536",
        "https://user@host:1",
        "https://host:1/path",
        "https://:1",
    ],
)
def test_what_is_none_says_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected unix:"):
        parse_destination(text)
    assert destination(text) is not None


def test_none_at_all_is_the_brain_of_this_machine() -> None:
    assert destination("") is None


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    said = destination(text)
    assert said is None or said.startswith("expected")
