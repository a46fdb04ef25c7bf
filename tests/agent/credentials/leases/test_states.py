from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from nemutator_agent.credentials.leases import states
from nemutator_agent.credentials.leases.states import ENDED, LeaseHolding, LeaseState
from nemutator_agent.credentials.vault.documents import GivenLease
from nemutator_agent.credentials.vault.leases import MARGIN_S

terms = st.floats(1, 86_400)
rolls = st.floats(0, 1, exclude_max=True)


def lease(ttl_s: float, *, renewable: bool = True) -> GivenLease:
    return GivenLease("database/creds/shop/abc", ttl_s, renewable)


class Life(RuleBasedStateMachine):
    """Whatever happens to a lease, in any order and after any time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.holding = LeaseHolding()
        self.allowed_until = 0.0
        """By Vault's own words."""

    def become(self, after: LeaseHolding) -> None:
        before, self.holding = self.holding, after
        if before.state in ENDED:
            assert after.state is before.state
            assert after.ends == before.ends

    @rule(seconds=st.floats(0, 10_000))
    def time_goes_by(self, seconds: float) -> None:
        self.now += seconds

    @rule(ttl_s=terms, renewable=st.booleans(), roll=rolls)
    def vault_gives(self, ttl_s: float, renewable: bool, roll: float) -> None:
        if self.holding.state is LeaseState.WANTED:
            self.allowed_until = self.now + ttl_s
        given = lease(ttl_s, renewable=renewable)
        self.become(states.granted(self.holding, given, self.now, roll=roll))

    @precondition(lambda self: self.holding.is_due(self.now))
    @rule()
    def it_is_asked_to_renew(self) -> None:
        self.become(states.renewing(self.holding))

    @rule(ttl_s=terms, renewable=st.booleans(), roll=rolls)
    def vault_renews(self, ttl_s: float, renewable: bool, roll: float) -> None:
        if self.holding.state is LeaseState.RENEWING:
            self.allowed_until = self.now + ttl_s
        again = lease(ttl_s, renewable=renewable)
        self.become(states.renewed(self.holding, again, self.now, roll=roll))

    @rule()
    def vault_is_away(self) -> None:
        self.become(states.unanswered(self.holding, self.now))
        if self.holding.state in (LeaseState.GRANTED, LeaseState.EXPIRING):
            assert self.holding.due >= 0

    @rule()
    def vault_refuses(self) -> None:
        self.become(states.refused(self.holding, self.now))

    @rule()
    def the_token_is_replaced(self) -> None:
        had = self.holding.state in (LeaseState.GRANTED, LeaseState.RENEWING)
        self.become(states.superseded(self.holding, self.now))
        if had:
            assert self.holding.is_due(self.now)
            assert not self.holding.usable(self.now)

    @rule()
    def vault_does_not_know_it(self) -> None:
        known = self.holding.state not in ENDED
        self.become(states.lost(self.holding, self.now))
        assert self.holding.state in ENDED
        assert self.holding.is_due(self.now) or not known

    @rule()
    def its_pod_ends(self) -> None:
        self.become(states.revoked(self.holding))
        assert self.holding.state in ENDED

    @invariant()
    def nothing_is_used_beyond_what_vault_has_allowed(self) -> None:
        assert self.holding.ends <= self.allowed_until
        if self.holding.usable(self.now):
            assert self.now < self.allowed_until - MARGIN_S
            assert self.holding.state not in ENDED

    @invariant()
    def what_is_held_is_acted_on(self) -> None:
        acts = (LeaseState.GRANTED, LeaseState.EXPIRING, LeaseState.LOST)
        if self.holding.state in acts:
            assert self.holding.due < float("inf")
        else:
            assert not self.holding.is_due(self.now)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@given(terms, rolls)
def test_a_lease_is_due_before_it_ends_and_after_half_of_it(ttl_s: float, roll: float) -> None:
    holding = states.granted(LeaseHolding(), lease(ttl_s), 100.0, roll=roll)
    assert holding.state is LeaseState.GRANTED
    assert 100 + ttl_s / 2 < holding.due < holding.ends


def test_what_cannot_be_renewed_is_replaced_in_time() -> None:
    holding = states.granted(LeaseHolding(), lease(90, renewable=False), 0.0, roll=0.5)
    assert holding.state is LeaseState.EXPIRING
    assert not holding.is_due(59)
    assert holding.is_due(60)
    assert holding.usable(60)


def test_a_renewal_that_meets_the_longest_life_is_the_last_one() -> None:
    holding = states.renewing(states.granted(LeaseHolding(), lease(90), 0.0, roll=0.5))
    long = states.renewed(holding, lease(90), 60.0, roll=0.5)
    short = states.renewed(holding, lease(30), 60.0, roll=0.5)
    assert (long.state, long.ends) == (LeaseState.GRANTED, 150)
    assert (short.state, short.ends, short.due) == (LeaseState.EXPIRING, 90, 80)


def test_a_renewal_that_fails_is_tried_again_while_it_lasts() -> None:
    holding = states.renewing(states.granted(LeaseHolding(), lease(90), 0.0, roll=0.5))
    again = states.unanswered(holding, 60.0)
    assert (again.state, again.due) == (LeaseState.GRANTED, 63)
    assert states.unanswered(states.renewing(again), 89.0).due == 91
