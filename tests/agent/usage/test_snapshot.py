from nemutator_agent.inspection.identities import ProcessId

from tests.fakes.snapshots import process, snapshot


def test_a_number_that_is_used_again_is_another_process() -> None:
    seen = snapshot(1.0, processes={ProcessId(7, 100): process(), ProcessId(7, 200): process()})
    assert len(seen.processes) == 2
