import pytest
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)

from tests.fakes.decisions import POD


def test_an_object_in_a_log_line_or_traceback_shows_nothing_of_what_is_in_it() -> None:
    live = LiveObject(subject=POD, document={"data": {"password": "hunter2"}}, version="1")
    assert "hunter2" not in repr(live)
    assert "web-1" in repr(live)


@pytest.mark.parametrize("kind", [ChangedError, ObjectRefusedError, UnreachableError])
def test_what_to_do_next_is_told_by_the_kind_of_failure_alone(kind: type[Exception]) -> None:
    others = {ChangedError, ObjectRefusedError, UnreachableError} - {kind}
    assert not any(issubclass(kind, other) for other in others)
