"""The verb labels writes labels, in the name of its policy."""

from nemutator_controller.mutations import labels
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.texts import Texts


def test_a_label_is_an_edit_of_the_policy() -> None:
    draft = Draft({"metadata": {}}, "Pod")
    labels.apply(draft, Texts(set={"team": "a"}), policy="p")
    [edit] = draft.edits()
    assert (edit.path, edit.before, edit.after) == ("metadata.labels[team]", (), ("a",))
    assert (edit.verb, edit.policy) == ("labels", "p")
