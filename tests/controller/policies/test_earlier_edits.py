from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.stamps import Stamp
from nemutator_controller.policies.earlier_edits import before_us, missing

POD = {"metadata": {"labels": {"team": "a"}}}
TEAM = Edit(path="metadata.labels[team]", before=(), after=("a",), verb="labels", policy="p")
ELSEWHERE = Edit(path="containers[name=x].image", before=(), after=("a",), verb="image", policy="p")


def test_an_object_without_our_edits_is_what_it_was_before_us() -> None:
    assert before_us(POD, "Pod", Stamp("d", (TEAM,)))["metadata"].get("labels", {}) == {}
    assert before_us(POD, "Pod", None) is POD
    # A stamp that names what the object does not have is not ours.
    assert before_us(POD, "Pod", Stamp("d", (ELSEWHERE,))) == POD


def test_only_what_is_not_there_yet_is_missing() -> None:
    other = Edit(
        path="metadata.labels[tier]", before=("x",), after=("b",), verb="labels", policy="p"
    )
    [found] = missing(POD, "Pod", [TEAM, other])
    assert (found.path, found.before) == ("metadata.labels[tier]", ())
