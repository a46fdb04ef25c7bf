import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.malformed import MalformedError, whole


@given(st.integers(0, 10**20 - 1))
def test_digits_are_a_number(number: int) -> None:
    assert whole(b"%d" % number, "x") == number


@pytest.mark.parametrize("text", [b"", b"-1", b"+1", b" 1", b"1_0", b"1.0", b"\xb2", b"9" * 21])
def test_what_int_would_take_or_choke_on_is_refused(text: bytes) -> None:
    with pytest.raises(MalformedError, match="x: expected a number"):
        whole(text, "x")
