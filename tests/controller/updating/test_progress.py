from dataclasses import replace

from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.progress import (
    MOST_SHOWN,
    PolicyProgress,
    open_changes,
    sizing_list,
    state_of,
)
from nemutator_controller.updating.records import AmountAdvice, LeaveAlone, WaitFirst

from tests.fakes.sized_pods import WEB, firm, pod_document, pod_of

POD = pod_of(pod_document())


def test_pods_are_counted_and_shown_up_to_a_bound() -> None:
    done = PolicyProgress(mode="InPlace")
    for _ in range(MOST_SHOWN + 1):
        done.note(POD, "fits", "")
    done.note(POD, "waits", "not now")
    assert done.summary() == "1002 pods: 1001 as advised, 1 wait"
    assert len(done.pods) == MOST_SHOWN


def test_the_summary_has_an_example_of_each_reason() -> None:
    done = PolicyProgress(mode="InPlace")
    done.note(POD, "waits", "not now")
    assert done.summary() == "1 pods: 1 wait; shop/web-1: not now"


def test_the_summary_says_whose_cpu_follows_use_hourly_and_whose_does_not() -> None:
    hourly = AmountAdvice(target=parse_quantity("80m"), hourly="nemutator-hourly")
    followed = replace(firm(memory="1M"), amounts={"cpu": hourly})
    done = PolicyProgress(mode="InPlace")
    done.advise(POD, {"app": followed, "side": replace(firm(), not_hourly="too young")})
    # Another pod of the same workload.
    done.advise(POD, {"app": followed})
    done.note(POD, "fits", "")
    assert done.summary() == (
        "1 pods: 1 as advised; the CPU of 1 containers follows use hourly;"
        " that of 1 follows advice, such as: too young"
    )


def test_decisions_have_words() -> None:
    assert state_of(WaitFirst("later")) == ("waits", "later")
    assert state_of(LeaveAlone("never")) == ("left", "never")
    assert state_of(LeaveAlone("good", is_good=True)) == ("fits", "good")


def test_the_list_is_narrowed_to_a_namespace_and_names_faults() -> None:
    done = PolicyProgress(mode="Off")
    done.note(POD, "left", "no advice")
    shown = sizing_list({"p": done}, {"q": "spec: wrong"}, "bank")
    assert [(each["policy"], each["pods"]) for each in shown] == [("p", []), ("q", [])]
    (one, _) = sizing_list({"p": done}, {"q": "spec: wrong"}, None)
    assert one["counts"] == {"left": 1}


def test_changes_that_kubelet_has_not_made_are_counted() -> None:
    pods = [POD, replace(POD, state="Deferred"), replace(POD, state="Infeasible")]
    assert open_changes(pods) == {WEB: 1}
