import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nemutator_agent.credentials.audit_texts import fit
from nemutator_common.wire import LONGEST_GRANT_TEXT

hard = st.text(st.sampled_from("a\\x0\n…é\udc80"), max_size=2 * LONGEST_GRANT_TEXT)


@pytest.mark.parametrize("plain", ["", "db", "uid 33 /usr/sbin/nginx", "/opt/Büro/日本", "x" * 512])
def test_plain_text_stays_as_it_is(plain: str) -> None:
    assert fit(plain) == plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/tmp/cu\nrl", r"/tmp/cu\nrl"),
        (r"/tmp/cu\nrl", r"/tmp/cu\\nrl"),
        ("\x00\x9b\u202e\udcff", r"\x00\x9b\u202e\udcff"),
    ],
)
def test_what_does_not_print_is_escaped_and_so_is_what_looks_like_an_escape(
    text: str, written: str
) -> None:
    assert fit(text) == written


def test_of_a_long_text_the_beginning_stays_with_a_digest_of_all() -> None:
    text = "/a" * 400
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    assert fit(text) == f"{text[:478]}\\…{digest}"
    assert fit(text) != fit(f"{text}b")


@given(st.text(max_size=700) | hard, st.text(max_size=700) | hard)
@example("\\" * 513, "\\" * 514)
@example("\n" * 256 + "a", "\n" * 256 + "b")
def test_different_texts_stay_different(one: str, other: str) -> None:
    assert (fit(one) == fit(other)) == (one == other)


@given(st.text(max_size=700) | hard)
def test_what_was_made_fit_is_no_other_text_as_it_is(text: str) -> None:
    """Nobody can call himself what a record would call another."""
    written = fit(text)
    assert len(written) <= LONGEST_GRANT_TEXT
    assert written.isprintable()
    assert written == text or fit(written) != written
