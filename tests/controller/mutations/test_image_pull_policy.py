"""The verb imagePullPolicy writes it into the chosen containers."""

from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.image_pull_policy import PullPolicy, apply


def test_chosen_containers_get_it() -> None:
    draft = Draft({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}, "Pod")
    apply(draft, PullPolicy(set="Always", containers=("b",)), policy="p")
    [edit] = draft.edits()
    assert (edit.path, edit.after) == ("containers[name=b].imagePullPolicy", ("Always",))
