"""The scheduler that an API server fills in counts as none."""

from nemutator_controller.mutations import scheduler_name
from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.edits import Draft


def test_the_servers_default_is_nobodys_choice() -> None:
    for before, after in (("default-scheduler", "mine"), ("theirs", "theirs")):
        draft = Draft({"spec": {"schedulerName": before}}, "Pod")
        scheduler_name.apply(draft, ChosenName(add="mine"), policy="p")
        assert draft.manifest["spec"]["schedulerName"] == after
