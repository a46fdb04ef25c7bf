"""What follows never takes a running pod out of sight of its workload or of a Service."""

from tests.controller.following.test_following import Cluster
from tests.fakes.followed_pods import live, running_pod


async def test_a_pod_that_a_service_finds_keeps_the_label_and_people_are_told() -> None:
    pod = running_pod(labels={"app": "web"})
    one = Cluster(pod, team=live(app="other", team="a"))
    one.rules.services = None
    async with one.running():
        await one.check(2)
        # Nothing is written while nobody knows the Services.
        assert one.pods.metadata()["labels"] == {"app": "web"}
        one.rules.services = {"shop": {"app": "web"}}
        await one.check(2)
    assert one.pods.metadata()["labels"] == {"app": "web", "team": "a"}
    assert (
        "metadata.labels[app] is left alone: the Service shop finds this pod by it, and it runs"
        in one.pods.notes
    )
    assert one.counted("kept") >= 1


async def test_a_label_that_its_workload_does_not_want_is_not_written_into_a_pod_that_runs() -> (
    None
):
    one = Cluster(running_pod(), team=live(legacy="no", team="a"))
    one.rules.unwanted = frozenset({"legacy"})
    async with one.running():
        await one.check(2)
    assert one.pods.metadata()["labels"] == {"team": "a"}
    assert any("wants pods without it" in note for note in one.pods.notes)
