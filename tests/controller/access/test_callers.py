from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    REPORTS_PATH,
    STREAMS_PATH,
)
from nemutator_controller.access.callers import LOCAL, Caller

AGENT = Caller("n1")
ADMISSION = Caller(None, admission="admission-1")


def test_an_agent_speaks_for_its_own_node_only() -> None:
    assert AGENT.may_speak_for("n1")
    assert not AGENT.may_speak_for("n2")


def test_whoever_reads_the_link_token_speaks_for_all() -> None:
    assert LOCAL.may_speak_for("n1")
    assert LOCAL.may_write("grants", "n1")
    assert LOCAL.may_write("decisions", "anybody")


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


ADVICE = "/uplink/v1/advice"


def test_snapshots_of_all_namespaces_are_for_admission() -> None:
    assert ADMISSION.may_call(ADVICE)
    assert not AGENT.may_call(ADVICE)


def test_what_agents_call_is_theirs() -> None:
    for path in (REPORTS_PATH, PROFILES_PATH, PROFILE_REQUESTS_PATH):
        assert AGENT.may_call(path)
        assert not ADMISSION.may_call(path)
    for caller in (AGENT, ADMISSION):
        assert caller.may_call(f"{STREAMS_PATH}grants")


def test_only_who_reads_the_link_token_may_call_all() -> None:
    for path in ("/api/v1/topology", "/metrics", "/"):
        assert LOCAL.may_call(path)
        assert not AGENT.may_call(path)
        assert not ADMISSION.may_call(path)
