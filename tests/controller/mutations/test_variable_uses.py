"""A variable is needed by what kubelet replaces, and by nothing else."""

from typing import Any

import pytest
from nemutator_controller.mutations.variable_uses import used, uses


@pytest.mark.parametrize(
    ("container", "by"),
    [
        ({"env": [{"name": "B", "value": "x/$(A)/y"}]}, "B"),
        ({"env": [{"name": "A", "value": "$(A)"}]}, None),
        ({"env": ["odd", {"value": 3}, {"name": "B", "value": "$(A)"}]}, "B"),
        ({"command": ["sh", "-c", "echo $(A)"]}, "`command`"),
        ({"args": ["--name=$(A)"]}, "`args`"),
        ({"volumeMounts": [{"subPathExpr": "$(A)/logs"}, "odd"]}, "`subPathExpr`"),
        # These are not replaced.
        ({"lifecycle": {"preStop": {"exec": {"command": ["$(A)"]}}}, "workingDir": "$(A)"}, None),
        ({"env": "$(A)", "command": "$(A)", "args": None}, None),
    ],
)
def test_what_uses_a_variable_is_named(container: Any, by: str | None) -> None:
    assert uses(container).get("A") == by


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$(A)$(B)", {"A", "B"}),
        ("$$(A) $$$(B)", {"B"}),
        ("$A ${A} $() $(A", set()),
        ("$(odd name)", {"odd name"}),
        (7, set()),
    ],
)
def test_references_are_those_that_kubelet_sees(text: Any, names: set[str]) -> None:
    assert used(text) == names
