"""A patch is applied to our own copy before it is sent."""

from typing import Any

import pytest
from nemutator_controller.admission.proven_patches import patch_of
from nemutator_controller.mutations.patches import MOST

from tests.controller.mutations.pods import edit

POD: dict[str, Any] = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}


def test_a_patch_has_a_most_of_operations() -> None:
    pod = POD | {"metadata": {"annotations": {"a": "b"}}}
    edits = tuple(edit(f"metadata.annotations[k{n}]", None, "v") for n in range(MOST))
    assert len(patch_of(pod, "Pod", edits[1:], "stamp")) == MOST
    with pytest.raises(Exception, match=f"more than {MOST} operations"):
        patch_of(pod, "Pod", edits, "stamp")


def test_a_patch_is_proven_before_it_is_sent() -> None:
    operations = patch_of(POD, "Pod", (edit("metadata.labels[a]", None, "b"),), "stamp")
    assert [each["path"] for each in operations] == [
        "/metadata/labels",
        "/metadata/annotations",
    ]


def test_the_stamp_of_a_workload_is_not_in_its_template() -> None:
    manifest = {"metadata": {}, "spec": {"template": POD}}
    edits = (edit("metadata.labels[a]", None, "b"),)
    assert [each["path"] for each in patch_of(manifest, "Deployment", edits, "stamp")] == [
        "/spec/template/metadata/labels",
        "/metadata/annotations",
    ]
