from nemutator_agent.inspection.identities import FileId, ProcessId


def test_identities_are_compared_whole() -> None:
    assert ProcessId(7, 1) != ProcessId(7, 2)
    assert FileId(1, 2, 3, 4) != FileId(1, 2, 3, 5)
