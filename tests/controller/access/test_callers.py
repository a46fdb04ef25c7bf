from nemutator_controller.access.callers import LOCAL, Caller

AGENT = Caller("agent", "n1")
ADMISSION = Caller("admission", "admission-1")


def test_an_agent_speaks_for_its_own_node_only() -> None:
    assert AGENT.may_speak_for("n1")
    assert not AGENT.may_speak_for("n2")
    assert not AGENT.may_speak_as("admission", "n1")


def test_a_process_that_reads_the_link_token_speaks_for_all() -> None:
    assert LOCAL.may_speak_for("n1")
    assert LOCAL.may_speak_as("admission", "admission-1")


def test_admission_speaks_for_itself_and_for_no_node() -> None:
    assert ADMISSION.may_speak_as("admission", "admission-1")
    assert not ADMISSION.may_speak_as("admission", "admission-2")
    assert not ADMISSION.may_speak_for("n1")
    assert not ADMISSION.may_speak_for("admission-1")
