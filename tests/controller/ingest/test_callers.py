from nemutator_controller.ingest.callers import LOCAL, Caller

AGENT = Caller("n1")
ADMISSION = Caller(None, admission="admission-1")


def test_an_agent_speaks_for_its_own_node_only() -> None:
    assert AGENT.may_speak_for("n1")
    assert not AGENT.may_speak_for("n2")


def test_whoever_reads_the_link_token_speaks_for_all() -> None:
    assert LOCAL.may_speak_for("n1")
    assert LOCAL.may_write("grants", "n1")
    assert LOCAL.may_write("decisions", "anybody")
    assert LOCAL.may_read_snapshots


def test_admission_speaks_for_no_node() -> None:
    assert not ADMISSION.may_speak_for("n1")
    assert not ADMISSION.may_write("grants", "n1")
    assert not ADMISSION.may_write("grants", "admission-1")


def test_each_stream_has_its_writer() -> None:
    assert AGENT.may_write("grants", "n1")
    assert not AGENT.may_write("grants", "n2")
    assert not AGENT.may_write("decisions", "n1")
    assert ADMISSION.may_write("decisions", "admission-1")
    assert not ADMISSION.may_write("decisions", "admission-2")


def test_snapshots_of_all_namespaces_are_for_admission() -> None:
    assert ADMISSION.may_read_snapshots
    assert not AGENT.may_read_snapshots
