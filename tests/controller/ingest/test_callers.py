from nemutator_controller.ingest.callers import Caller


def test_a_caller_bound_to_a_node_speaks_for_no_other() -> None:
    assert Caller("n1").may_speak_for("n1")
    assert not Caller("n1").may_speak_for("n2")


def test_a_caller_bound_to_none_speaks_for_all() -> None:
    assert Caller(None).may_speak_for("n1")
