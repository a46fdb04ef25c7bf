"""Exit codes are a promise to scripts; an operator error names the thing and the remedy."""

from nemutator_common.errors import PERMANENT, ExitCode, OperatorError


def test_exit_codes_are_distinct_documented_and_free_of_the_shells_own() -> None:
    assert len({int(code) for code in ExitCode}) == len(ExitCode)
    assert all(code.meaning for code in ExitCode)
    # 126 and above: the shell's "not executable", "not found" and "ended by a signal".
    assert all(0 <= code < 126 for code in ExitCode)


def test_the_documented_numbers_do_not_move() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "SETTINGS": 3,
        "ALREADY_RUNNING": 4,
        "ADDRESS_IN_USE": 5,
        "DATA_DIRECTORY": 6,
        "DATABASE": 7,
        "CHILD_DIED": 8,
        "UNREACHABLE": 9,
        "NO_SPACE": 10,
        "INTERNAL": 70,
        "NOT_STARTED": 125,
    }


def test_what_may_pass_by_itself_is_tried_again() -> None:
    assert PERMANENT.isdisjoint({ExitCode.OK, ExitCode.UNREACHABLE, ExitCode.INTERNAL})


def test_an_operator_error_says_what_and_the_remedy() -> None:
    error = OperatorError("port 8420 is taken", remedy="free it", code=ExitCode.ADDRESS_IN_USE)
    assert str(error) == "port 8420 is taken\n  remedy: free it"
    assert (error.what, error.remedy, error.code) == ("port 8420 is taken", "free it", 5)
