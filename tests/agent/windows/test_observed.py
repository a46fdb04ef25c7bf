from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.observed import phase


def test_processes_are_spread_over_the_interval() -> None:
    phases = [phase("n", ProcessId(pid, 5)) for pid in range(1_000)]
    assert all(0 <= one < 1 for one in phases)
    for tenth in range(10):
        assert 50 < sum(tenth <= one * 10 < tenth + 1 for one in phases) < 150


def test_nodes_and_lives_do_not_beat_together() -> None:
    some = {phase("a", ProcessId(7, 1)), phase("b", ProcessId(7, 1)), phase("a", ProcessId(7, 2))}
    assert len(some) == 3
    assert phase("a", ProcessId(7, 1)) in some
