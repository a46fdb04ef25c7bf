from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.value_digests import ValueDigests
from nemutator_common.secret import Secret

DIGESTS = ValueDigests(Secret("k"))
PARTS = st.lists(st.binary(max_size=8), max_size=4)


@given(PARTS, PARTS)
def test_equal_values_have_one_digest_and_others_another(
    one: list[bytes], two: list[bytes]
) -> None:
    assert (DIGESTS.of(*one) == DIGESTS.of(*two)) is (one == two)


def test_another_key_makes_another_digest() -> None:
    assert DIGESTS.of(b"x") != ValueDigests(Secret("l")).of(b"x")
