import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.journal import documents
from nemutator_ctl.delete.view import kind_of, view

from tests.fakes.decisions import POD


def test_what_is_deleted_is_named() -> None:
    assert view(documents.deleted(POD)) == "Pod team/web-1 deleted\n"


def test_another_answer_is_not_understood() -> None:
    with pytest.raises(OperatorError, match="what deleting answers"):
        view({})


def test_a_kind_is_known_however_it_is_written() -> None:
    words = ("mutationpolicy", "MutationPolicy", "DEPLOYMENT", "../x")
    assert [*map(kind_of, words)] == ["MutationPolicy", "MutationPolicy", "Deployment", "../x"]
