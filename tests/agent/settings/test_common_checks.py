import pytest
from nemutator_agent.settings.common_checks import reported_name
from nemutator_common.errors import OperatorError


def test_a_node_is_called_as_its_host_unless_it_was_named() -> None:
    assert reported_name("", "web-1.example") == "web-1.example"
    assert reported_name("shown", "under_score-") == "shown"


@pytest.mark.parametrize("host", ["", "under_score-", "two words", "x\n", "(none)"])
def test_a_host_name_that_no_brain_takes_is_said_at_the_start(host: str) -> None:
    with pytest.raises(OperatorError, match="host name cannot be reported") as raised:
        reported_name("", host)
    assert "--node" in raised.value.remedy
