from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.verdicts import Verdicts, digest


def test_a_verdict_is_young_for_a_while() -> None:
    verdicts: Verdicts[str] = Verdicts()
    assert verdicts.find("a") is None
    verdicts.keep("a", "yes", now=100.0)
    kept = verdicts.find("a")
    assert kept is not None
    assert (kept.verdict, kept.is_younger(60, now=159), kept.is_younger(60, now=160)) == (
        "yes",
        True,
        False,
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=50), st.integers(1, 5))
def test_it_never_keeps_more_than_it_may_and_always_the_last(
    steps: list[tuple[int, bool]], most: int
) -> None:
    verdicts: Verdicts[bool] = Verdicts(most=most)
    for now, (key, verdict) in enumerate(steps):
        verdicts.keep(key, verdict, now=now)
        assert len(verdicts) <= most
        kept = verdicts.find(key)
        assert kept is not None
        assert kept.verdict == verdict


def test_what_was_looked_at_stays() -> None:
    verdicts: Verdicts[int] = Verdicts(most=2)
    verdicts.keep("a", 1, now=0)
    verdicts.keep("b", 2, now=0)
    verdicts.find("a")
    verdicts.keep("c", 3, now=0)
    assert verdicts.find("b") is None
    assert verdicts.find("a") is not None


@given(st.text())
def test_a_digest_does_not_show_what_it_is_of(text: str) -> None:
    assert len(digest(text)) == 32
    assert digest(text) == digest(text)
