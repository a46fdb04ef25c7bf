"""The verb nodeSelector writes labels of nodes, in the name of its policy."""

from nemutator_controller.mutations import node_selector
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.texts import Texts


def test_keys_are_set_added_and_removed() -> None:
    draft = Draft({"spec": {"nodeSelector": {"disk": "hdd", "arch": "arm64", "old": "1"}}}, "Pod")
    wanted = Texts(set={"disk": "ssd"}, add={"arch": "amd64", "a/b": "c"}, remove=("old",))
    node_selector.apply(draft, wanted, policy="p")
    assert draft.manifest["spec"]["nodeSelector"] == {"disk": "ssd", "arch": "arm64", "a/b": "c"}
    assert [(edit.path, edit.verb) for edit in draft.edits()] == [
        ("nodeSelector[disk]", "nodeSelector"),
        ("nodeSelector[a/b]", "nodeSelector"),
        ("nodeSelector[old]", "nodeSelector"),
    ]
