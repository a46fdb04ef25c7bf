from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.vault.circuit_breaker import (
    BACKOFF,
    FAILURES,
    FAILURES_OF_ONE,
    TURN_S,
    CircuitBreaker,
)
from nemutator_agent.credentials.vault.failures import VaultUnavailableError

DOWN = VaultUnavailableError("down", "no connection")
SEALED = VaultUnavailableError("sealed", "Vault is sealed")
BUSY = VaultUnavailableError("busy", "quota", retry_after_s=40.0)


def opened(outage: VaultUnavailableError = DOWN) -> CircuitBreaker:
    breaker = CircuitBreaker()
    for number in range(FAILURES):
        breaker.failed(number % 2, outage, 0.0, roll=1.0)
    assert breaker.state == "open"
    return breaker


def test_failures_of_several_callers_open_it_and_nobody_may_ask() -> None:
    breaker = opened()
    assert not breaker.admits("anybody", 1000.0)
    assert breaker.outage is DOWN


def test_one_caller_alone_does_not_open_it_soon() -> None:
    breaker = CircuitBreaker()
    for _ in range(FAILURES_OF_ONE - 1):
        breaker.failed("one", DOWN, 0.0, roll=0.0)
    assert breaker.admits("two", 0.0)
    breaker.failed("one", DOWN, 0.0, roll=0.0)
    assert not breaker.admits("two", 0.0)


def test_an_answer_in_between_counts_for_all() -> None:
    breaker = CircuitBreaker()
    for _ in range(10):
        breaker.failed("one", DOWN, 0.0, roll=0.0)
        breaker.succeeded()
        breaker.failed("two", DOWN, 0.0, roll=0.0)
    assert breaker.state == "closed"


def test_a_sealed_vault_speaks_for_itself() -> None:
    breaker = CircuitBreaker()
    breaker.failed("one", SEALED, 0.0, roll=0.0)
    assert breaker.state == "open"


def test_our_own_crowd_says_nothing_of_vault() -> None:
    breaker = CircuitBreaker()
    for number in range(100):
        breaker.failed(number, VaultUnavailableError("crowded", "wait"), 0.0, roll=0.0)
    assert breaker.state == "closed"


def test_probes_in_vain_come_ever_more_seldom() -> None:
    breaker = opened()
    waits = []
    for _ in range(8):
        now = breaker.until
        breaker.probed(DOWN, now, roll=1.0)
        waits.append(breaker.until - now)
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2 * BACKOFF.first_s, BACKOFF.longest_s)


def test_vault_says_when_to_come_again() -> None:
    assert opened(BUSY).until == 40.0


def test_after_a_probe_one_caller_tries_and_closes_it() -> None:
    breaker = opened()
    breaker.probed(None, 5.0, roll=0.0)
    assert breaker.admits("one", 5.0)
    assert not breaker.admits("two", 5.0)
    breaker.succeeded()
    assert (breaker.state, breaker.outage) == ("closed", None)
    assert breaker.admits("two", 5.0)


def test_a_try_that_fails_opens_it_again_and_others_try_first() -> None:
    breaker = opened()
    breaker.probed(None, 5.0, roll=0.0)
    assert breaker.admits("one", 5.0)
    breaker.failed("one", DOWN, 5.0, roll=0.0)
    assert breaker.state == "open"
    breaker.probed(None, 9.0, roll=0.0)
    assert not breaker.admits("one", 9.0)
    assert breaker.admits("two", 9.0)
    breaker.left("two")
    assert breaker.admits("one", 9.0 + TURN_S)


def test_a_late_failure_of_another_does_not_decide_a_try() -> None:
    breaker = opened()
    breaker.probed(None, 5.0, roll=0.0)
    assert breaker.admits("one", 5.0)
    breaker.failed("late", DOWN, 5.0, roll=0.0)
    assert breaker.state == "half_open"


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "succeeded", "failed", "sealed", "left", "well", "ill"]),
        st.integers(0, 3),
        st.floats(0, 5),
    ),
    max_size=60,
)


@given(EVENTS)
def test_whatever_happens_it_lets_all_ask_or_one_or_nobody(
    events: list[tuple[str, int, float]],
) -> None:
    breaker, now = CircuitBreaker(), 0.0
    trying: set[int] = set()
    for event, caller, passed_s in events:
        now += passed_s
        match event:
            case "ask":
                half_open = breaker.state == "half_open"
                if breaker.admits(caller, now) and half_open:
                    assert not trying
                    trying.add(caller)
            case "succeeded":
                breaker.succeeded()
            case "failed" | "sealed":
                breaker.failed(caller, DOWN if event == "failed" else SEALED, now, roll=0.5)
                trying.discard(caller)
            case "left":
                breaker.left(caller)
                trying.discard(caller)
            case _:
                breaker.probed(None if event == "well" else DOWN, now, roll=0.5)
        if breaker.state != "half_open":
            trying.clear()
        assert (breaker.outage is None) == (breaker.state == "closed")
        if breaker.state == "open":
            assert not any(breaker.admits(each, now) for each in range(4))
    # It never stays closed to callers for ever: a probe and a try are enough.
    breaker.left(next(iter(trying), None))
    breaker.probed(None, now, roll=0.5)
    assert breaker.admits("new", now)
