import pytest
from nemutator_agent.windows.budget import LEAST_SAVED_S, SAVED_S, WindowBudget


def test_time_is_earned_and_spent() -> None:
    budget = WindowBudget(0.02, 100)
    assert budget.passed("heap", now=0.0, memory_bytes=0) is None
    budget.spend("heap", LEAST_SAVED_S)
    assert budget.passed("heap", now=1.0, memory_bytes=0) == "cpu"
    assert budget.credit_s == pytest.approx(0.02)


def test_after_a_stop_two_looks_must_be_paid_for() -> None:
    budget = WindowBudget(0.02, 100)
    budget.passed("heap", now=0.0, memory_bytes=0)
    budget.spend("heap", 1.0)
    budget.spend("heap", 1.0)
    assert budget.passed("heap", now=0.0, memory_bytes=0) == "cpu"
    assert budget.passed("heap", now=99.0, memory_bytes=0) == "cpu"
    assert budget.passed("heap", now=101.0, memory_bytes=0) is None
    budget.spend("heap", 1.0)
    assert budget.passed("heap", now=101.0, memory_bytes=0) is None


def test_no_more_is_saved_than_for_a_while() -> None:
    budget = WindowBudget(0.02, 100)
    budget.passed("heap", now=0.0, memory_bytes=0)
    budget.passed("heap", now=1e6, memory_bytes=0)
    assert budget.credit_s == 0.02 * SAVED_S
    assert WindowBudget(0.001, 100).most_s == LEAST_SAVED_S


def test_a_clock_that_stands_still_earns_nothing() -> None:
    budget = WindowBudget(0.02, 100)
    budget.passed("heap", now=5.0, memory_bytes=0)
    before = budget.credit_s
    budget.spend("heap", 1.0)
    budget.passed("heap", now=5.0, memory_bytes=0)
    assert budget.credit_s == before - 1.0


def test_a_look_that_costs_more_than_can_be_saved_is_still_taken_at_times() -> None:
    budget = WindowBudget(0.02, 100)
    budget.passed("heap", now=0.0, memory_bytes=0)
    budget.spend("heap", 100.0)
    assert budget.passed("heap", now=1.0, memory_bytes=0) == "cpu"
    assert budget.passed("heap", now=10_000.0, memory_bytes=0) is None


def test_what_looks_cost_is_learnt() -> None:
    budget = WindowBudget(0.02, 100)
    budget.spend("heap", 4.0)
    assert budget.expected_s("heap") == 4.0
    budget.spend("heap", 0.0)
    assert budget.expected_s("heap") == 3.0


def test_memory_has_its_own_bound() -> None:
    budget = WindowBudget(0.02, 100)
    assert budget.passed("heap", now=0.0, memory_bytes=101) == "memory"
    assert budget.passed("heap", now=0.0, memory_bytes=100) is None


def test_what_costs_much_does_not_stop_what_costs_little() -> None:
    budget = WindowBudget(0.02, 100)
    budget.spend("cpu", 1.0)
    budget.spend("heap", 0.1)
    assert budget.passed("cpu", now=0.0, memory_bytes=0) == "cpu"
    assert budget.passed("heap", now=0.0, memory_bytes=0) is None
    # What was stopped must be paid for twice.
    assert budget.passed("cpu", now=10.0, memory_bytes=0) == "cpu"
    assert budget.passed("cpu", now=100.0, memory_bytes=0) is None
