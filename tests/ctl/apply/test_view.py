from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.apply.view import in_order, view

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
    given = [deployment("b"), policy(), deployment("a"), None]
    assert in_order(given) == [policy(), deployment("b"), deployment("a"), None]


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
