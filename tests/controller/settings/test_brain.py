import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve
from nemutator_controller.setting_checks import host_names
from nemutator_controller.settings.brain import BrainSettings


def test_every_problem_is_reported_at_once() -> None:
    flags = {"console": "0.0.0.0:1", "most_nodes": "0", "history_s": "1"}
    with pytest.raises(OperatorError) as refused:
        resolve(BrainSettings, file={}, environment={}, flags=flags)
    for flag in ("--console", "--most-nodes", "--history-s"):
        assert flag in refused.value.what


@pytest.mark.parametrize(
    ("text", "names"),
    [("", ()), ("brain.example.com, 10.0.0.1 ,::1", ("brain.example.com", "10.0.0.1", "::1"))],
)
def test_further_names_of_the_brain_are_a_list(text: str, names: tuple[str, ...]) -> None:
    assert host_names(text) is None
    assert BrainSettings(server_names=text).further_names == names
