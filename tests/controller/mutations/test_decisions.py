"""Absent, null and empty are three different objects, on the way too."""

import gc

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


def test_many_edits_that_are_kept_do_not_make_collections_of_garbage_longer() -> None:
    value = ({"name": "v", "csi": {}},)
    edit = Edit(path="volumes[name=v]", before=(), after=value, verb="containers", policy="p")
    assert not gc.is_tracked(edit)
