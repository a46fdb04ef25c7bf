from nemutator_controller.packing.documents import packing_document
from nemutator_controller.packing.model import EmptiedNode, NodePlan


def test_what_is_emptied_is_told_from_what_could_be_and_what_is_kept() -> None:
    plans = [NodePlan(node=name, share=0.25, why_not=why) for name, why in (("a", ""), ("b", "x"))]
    chosen = {"a": EmptiedNode(node="a", since=5.04, state="removable", why="so")}
    found = packing_document(plans, chosen, policy="night", most=2)
    assert [(one["node"], one["state"], one["why"], one["since"]) for one in found["items"]] == [
        ("a", "removable", "so", 5.0),
        ("b", "", "x", None),
    ]
    assert packing_document(plans[:1], {}, policy=None, most=0)["items"][0]["state"] == "possible"
