"""Verbs are for containers that a glob names, init containers too, and not for ours."""

from nemutator_controller.mutations.chosen_containers import chosen
from nemutator_controller.mutations.edits import Draft

SPEC = {
    "containers": [{"name": "app"}, {"name": "side"}, "odd", {"name": 3}, {}],
    "initContainers": [{"name": "nemutator-init"}, {"name": "apply"}],
}


def test_globs_choose_among_both_lists() -> None:
    draft = Draft({"spec": SPEC}, "Pod")
    found = [str(path) for path, _ in chosen(draft, ("app*",))]
    assert found == ["containers[name=app]", "initContainers[name=apply]"]
    everything = [value["name"] for _, value in chosen(draft, ("*",))]
    assert everything == ["app", "side", "apply"]


def test_lists_that_are_none_have_none() -> None:
    assert list(chosen(Draft({"spec": {"containers": None}}, "Pod"), ("*",))) == []
