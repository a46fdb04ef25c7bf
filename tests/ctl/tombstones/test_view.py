import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.journal import documents
from nemutator_ctl.tombstones.view import decode, forgotten, overview

from tests.fakes.decisions import kept

LISTED = msgspec.to_builtins(documents.tombstones([kept(policy="defaults")]))


def test_each_field_is_shown_with_its_workload_and_its_policy() -> None:
    shown = overview(decode(LISTED))
    assert "Deployment/web" in shown
    assert "metadata.labels[team]" in shown
    assert "defaults" in shown
    assert overview(()) == "Nothing stays taken back.\n"


def test_what_was_forgotten_is_named() -> None:
    line = "Deployment team/web: metadata.labels[team]: forgotten\n"
    assert forgotten(decode(LISTED)) == line
    assert "no such field" in forgotten(())


def test_another_answer_is_not_understood() -> None:
    with pytest.raises(OperatorError, match="a list of tombstones"):
        decode({"items": [{}]})
