import pytest
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError
from nemutator_controller.database.failures import Engine, Reason, StoreUnavailableError
from nemutator_controller.database.start_failures import explained_at_the_start


@pytest.mark.parametrize(
    ("reason", "engine", "code", "remedy"),
    [
        ("conflict", "postgresql", ExitCode.UNREACHABLE, "start again once it answers"),
        ("deadline", "postgresql", ExitCode.UNREACHABLE, "see whether /data is overloaded"),
        ("full", "sqlite", ExitCode.NO_SPACE, "make room on the disk of /data, then start again"),
        (
            "damaged",
            "sqlite",
            ExitCode.DATABASE,
            "stop nemutator, move the database away, start again",
        ),
    ],
)
def test_who_runs_a_brain_hears_why_it_cannot_start_and_what_to_do(
    reason: Reason, engine: Engine, code: ExitCode, remedy: str
) -> None:
    with pytest.raises(OperatorError) as raised, explained_at_the_start():
        raise StoreUnavailableError(reason, "/data", engine)
    assert raised.value.code is code
    assert remedy in raised.value.remedy
    # What passes by itself is tried again by whatever supervises the brain.
    assert (code in PERMANENT) == (reason == "damaged")
