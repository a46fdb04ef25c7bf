"""Service links are switched for the whole pod."""

from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.service_links import apply
from nemutator_controller.mutations.switches import Switch


def test_what_the_server_fills_in_is_switched_off() -> None:
    draft = Draft({"spec": {"enableServiceLinks": True}}, "Pod")
    apply(draft, Switch(set=False), policy="p")
    assert draft.manifest["spec"] == {"enableServiceLinks": False}
