import pytest
from nemutator_agent.settings import ObserveSettings
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve


def resolved(**flags: str) -> ObserveSettings:
    return resolve(ObserveSettings, file={}, environment={}, flags=flags).values


def test_the_defaults_need_nothing() -> None:
    settings = resolved()
    assert (settings.node, settings.brain, settings.interval_s) == ("", "", 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("node", "two words"),
        ("node", "x" * 254),
        ("node", "-a"),
        ("interval_s", "0.4"),
        ("interval_s", "61"),
        ("brain", "localhost"),
        ("brain", "unix:relative"),
        ("processes", "0"),
        ("descriptors", "1"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match=value):
        resolved(**{name: value})


@pytest.mark.parametrize("address", ["unix:/run/brain.sock", "https://brain.svc:8421"])
def test_the_brain_may_be_anywhere(address: str) -> None:
    assert resolved(brain=address).brain == address


def test_a_node_is_called_as_its_host_unless_it_was_named() -> None:
    assert resolved().name_of("web-1.example") == "web-1.example"
    assert resolved(node="shown").name_of("under_score-") == "shown"


@pytest.mark.parametrize("host", ["", "under_score-", "two words", "x\n", "(none)"])
def test_a_host_name_that_no_brain_takes_is_said_at_the_start(host: str) -> None:
    with pytest.raises(OperatorError, match="host name cannot be reported") as raised:
        resolved().name_of(host)
    assert "--node" in raised.value.remedy
