from typing import Any

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.apply.view import Piece, in_order, refused, view

from tests.fakes.manifests import deployment, policy

EDIT = {"path": "a", "before": [], "after": ["x"], "policy": "p", "reason": ""}
ANSWER: dict[str, Any] = {
    "object": {"kind": "Deployment", "namespace": "default", "name": "web"},
    "outcome": "created",
    "id": "d1",
    "edits": [EDIT],
    "previewed": [],
    "warnings": ["mind"],
}


def test_policies_go_first_and_the_rest_keeps_its_order() -> None:
    given = [Piece("x", each) for each in (deployment("b"), policy(), deployment("a"), None)]
    assert in_order(given) == [given[1], given[0], given[2], given[3]]


def test_a_refusal_names_file_and_object() -> None:
    error = OperatorError("spec: expected an object", remedy="correct it", code=ExitCode.USAGE)
    whole = refused(Piece("a\x1b.yaml", deployment()), error)
    assert whole.what == "a\\x1b.yaml: Deployment web: spec: expected an object"
    assert (whole.remedy, whole.code) == (error.remedy, error.code)
    nameless = refused(Piece("a.yaml", []), error, left=2)
    assert nameless.what == "a.yaml: spec: expected an object (2 more not tried)"


def test_what_was_changed_is_shown() -> None:
    assert view(ANSWER) == (
        'Deployment default/web created  (mutation d1)\n  warning: mind\n  + a: "x"\n      by p\n'
    )
    kept = {"object": {"kind": "MutationPolicy", "namespace": "", "name": "x"}}
    nothing = {**ANSWER, **kept, "id": "", "edits": [], "warnings": []}
    assert view(nothing) == "MutationPolicy x created\n"
    assert "  preview only:\n  + a" in view({**nothing, "previewed": [EDIT]})


@pytest.mark.parametrize("bad", [None, {}, {**ANSWER, "edits": [3]}, {**ANSWER, "object": []}])
def test_other_answers_are_not_understood(bad: object) -> None:
    with pytest.raises(OperatorError, match="not what applying answers"):
        view(bad)
