from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.access.digests import digest


@given(st.text(), st.text())
def test_each_text_has_its_own_and_it_shows_nothing_of_it(one: str, other: str) -> None:
    assert len(digest(one)) == 32
    assert (digest(one) == digest(other)) == (one == other)
    assert len(one) < 4 or one.encode(errors="surrogatepass") not in digest(one)
