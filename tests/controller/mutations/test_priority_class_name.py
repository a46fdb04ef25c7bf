"""A pod's priority class comes without the number of another class."""

from nemutator_controller.mutations import priority_class_name
from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.edits import Draft, apply_edits
from nemutator_controller.mutations.patches import apply_patch, render

POD = {"spec": {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", "containers": []}}


def test_the_number_of_another_class_goes_and_is_no_edit_of_its_own() -> None:
    draft = Draft(POD, "Pod")
    priority_class_name.apply(draft, ChosenName(set="high"), policy="p")
    done = {"spec": {"containers": [], "priorityClassName": "high"}}
    assert draft.manifest == done
    [edit] = draft.edits()
    assert (edit.path, edit.before, edit.after) == ("priorityClassName", (), ("high",))
    assert apply_edits(POD, [edit], "Pod") == done
    assert apply_patch(POD, render(POD, [edit], "Pod")) == done


def test_the_number_of_the_right_class_stays() -> None:
    right = {"spec": {"priority": 1000, "priorityClassName": "high"}}
    draft = Draft(right, "Pod")
    priority_class_name.apply(draft, ChosenName(set="high"), policy="p")
    priority_class_name.apply(draft, ChosenName(add="low"), policy="p")
    assert draft.manifest is right
