"""The verb annotations writes annotations, in the name of its policy."""

from nemutator_controller.mutations import annotations
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.texts import Texts


def test_an_annotation_is_an_edit_of_the_policy() -> None:
    template = {"spec": {"template": {"metadata": {"annotations": {"x": "1"}}}}}
    draft = Draft(template, "Deployment")
    annotations.apply(draft, Texts(set={"x": "2"}), policy="p")
    [edit] = draft.edits()
    assert (edit.path, edit.before, edit.after) == ("metadata.annotations[x]", ("1",), ("2",))
    assert (edit.verb, edit.policy) == ("annotations", "p")
    assert draft.manifest["spec"]["template"]["metadata"]["annotations"] == {"x": "2"}
