import io

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.confirmation import ask


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["y\n", "Yes\n", " yes "])
def test_a_plan_is_shown_and_yes_goes_on(answer: str) -> None:
    shown = io.StringIO()
    ask("two pods\n", "Evict them?", answers=Terminal(answer), shown=shown)
    assert shown.getvalue() == "two pods\nEvict them? [y/N] "


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "yesterday\n"])
def test_anything_else_does_nothing(answer: str) -> None:
    with pytest.raises(OperatorError, match="nothing was done") as refused:
        ask("", "Roll it back?", answers=Terminal(answer), shown=io.StringIO())
    assert (refused.value.code, refused.value.remedy) == (ExitCode.FAILED, "say y to roll it back")


def test_without_a_terminal_nobody_is_asked() -> None:
    shown = io.StringIO()
    with pytest.raises(OperatorError, match="no terminal") as refused:
        ask("plan", "Roll it?", or_say="--planned=1", answers=io.StringIO("y\n"), shown=shown)
    assert (refused.value.code, shown.getvalue()) == (ExitCode.USAGE, "")
    assert refused.value.remedy == "read the plan with --plan, then say --planned=1"
