from nemutator_common import names
from nemutator_controller.following.workload_views import as_pod, for_metadata, situation_as_pod
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.snapshot import snapshot_of

from tests.fakes.followed_pods import live, workload


def test_a_workload_is_seen_with_its_own_metadata_and_with_what_its_pods_skip() -> None:
    one = workload(labels={"own": "x"})
    template = one["spec"]["template"]["metadata"]
    template["annotations"] = {names.SKIP_MUTATION: "labels", "other": "y"}
    assert as_pod(one, "Deployment") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"own": "x"},
            "annotations": {names.SKIP_MUTATION: "labels"},
        },
        "spec": {"containers": []},
    }


def test_only_what_was_taken_back_from_a_workload_itself_stays_so() -> None:
    taken_back = frozenset({"metadata.labels[a]", "workload.metadata.labels[b]"})
    seen = situation_as_pod(Situation(subject=pod_subject("shop", "web"), reversed=taken_back))
    assert seen.reversed == {"metadata.labels[b]"}
    assert (seen.subject.kind, seen.subject.owner_name) == ("Pod", "")


def test_policies_that_have_chosen_choose_no_more_and_change_metadata_only() -> None:
    spec = live(team="a") | {
        "match": {
            "namespaces": ["bank"],
            "percent": 0,
            "podSelector": {"matchLabels": {"app": "web"}},
        },
        "mutations": [
            {"labels": {"set": {"team": "a"}}},
            {"tolerations": {"add": [{"key": "spot"}]}},
            {"annotations": {"set": {"owner": "a"}}},
        ],
    }
    [one] = for_metadata(snapshot_of({"team": spec}).for_pods)
    assert matches(one, CandidatePod(namespace="x", namespace_labels=None, labels={}, names=()))
    assert [action.verb for action in one.actions] == ["labels", "annotations"]
