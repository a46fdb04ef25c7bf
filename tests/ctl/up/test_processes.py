import pytest
from nemutator_common.errors import ExitCode
from nemutator_ctl.up.processes import Ended


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "exit code 0"),
        (5, "exit code 5 (an address to listen on is taken or not allowed)"),
        (77, "exit code 77"),
        (-9, "SIGKILL"),
        (-15, "SIGTERM"),
        (-200, "signal 200"),
    ],
)
def test_an_end_says_what_it_was(code: int, said: str) -> None:
    assert str(Ended(code)) == said


def test_an_end_by_a_signal_is_no_documented_code() -> None:
    assert Ended(-5).exit_code is None
    assert Ended(5).exit_code is ExitCode.ADDRESS_IN_USE
