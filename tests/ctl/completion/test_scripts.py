import pytest
from nemutator_ctl.completion.scripts import ASK, FILES, SCRIPTS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_asks_the_program_and_knows_what_it_says_of_files(shell: str) -> None:
    script = SCRIPTS[shell]
    assert f"nemutator {ASK} -- " in script
    assert FILES in script
    assert "kubectl-nemutator" in script
