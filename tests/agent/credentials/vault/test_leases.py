from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.vault.leases import LONGEST_S, MARGIN_S, Lease, hold
from nemutator_common.secret import Secret

TOKEN = Secret("hvs.x")


@given(st.floats(1, LONGEST_S), st.floats(0, 1e6), st.floats(0, 1, exclude_max=True))
def test_more_time_is_asked_for_about_two_thirds_through(
    ttl_s: float, now: float, roll: float
) -> None:
    held = hold(Lease(TOKEN, ttl_s, renewable=True), now, roll=roll)
    assert 0.63 * ttl_s <= held.renew - now + 1e-6
    assert held.renew - now <= 0.70001 * ttl_s + 1e-6
    assert held.renew < held.ends


def test_what_cannot_be_renewed_is_used_to_its_end() -> None:
    held = hold(Lease(TOKEN, 60, renewable=False), 100, roll=0.5)
    assert held.renew == held.ends == 160


def test_a_token_without_an_end_is_looked_at_once_a_day() -> None:
    assert hold(Lease(TOKEN, 0, renewable=False), 0, roll=0).ends == LONGEST_S


def test_just_before_its_end_a_token_is_not_used_any_more() -> None:
    held = hold(Lease(TOKEN, 60, renewable=True), 0, roll=0)
    assert held.alive(60 - MARGIN_S - 0.1)
    assert not held.alive(60 - MARGIN_S)
