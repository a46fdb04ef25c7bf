"""Absent, null and empty are three different objects, on the way too."""

import msgspec
import pytest
from nemutator_controller.mutations.decisions import Decision, Edit, Maybe, Subject


@pytest.mark.parametrize("before", [(), (None,), ("",), ({"a": [1]},)])
def test_what_a_field_was_survives_the_way(before: Maybe) -> None:
    edit = Edit(path="metadata.labels[a]", before=before, after=("x",), verb="labels", policy="p")
    decision = Decision(
        id="1",
        at=2.0,
        request_uid="u",
        operation="CREATE",
        mode="apply",
        subject=Subject(api_version="v1", kind="Pod", namespace="n", name=""),
        edits=(edit,),
    )
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
