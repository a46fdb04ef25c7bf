"""A runtime class is chosen where the pod has none, or in any case."""

from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.runtime_class_name import apply


def test_one_is_added_or_set() -> None:
    for chosen, after in ((ChosenName(add="kata"), "own"), (ChosenName(set="kata"), "kata")):
        draft = Draft({"spec": {"runtimeClassName": "own"}}, "Pod")
        apply(draft, chosen, policy="p")
        assert draft.manifest["spec"]["runtimeClassName"] == after


def test_the_overhead_of_another_class_goes_and_is_no_edit_of_its_own() -> None:
    spec = {"runtimeClassName": "kata", "overhead": {"cpu": "250m"}, "containers": []}
    draft = Draft({"spec": spec}, "Pod")
    apply(draft, ChosenName(set="gvisor"), policy="p")
    assert draft.manifest["spec"] == {"runtimeClassName": "gvisor", "containers": []}
    assert [edit.path for edit in draft.edits()] == ["runtimeClassName"]
