"""The API of missed pods over HTTP, behind the gate of a cluster's console."""

from nemutator_controller.following.endpoint import MISSED_PODS_PATH, MissedPodsApi
from nemutator_controller.following.missed import MissedPod
from nemutator_controller.following.records import FollowedObject
from nemutator_controller.mutations.decisions import pod_subject

from tests.contract.gated_apis import served
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


def missed(namespace: str) -> MissedPod:
    subject = pod_subject(namespace, "web-1", f"u-{namespace}")
    pod = FollowedObject(
        subject=subject, version="1", stamp="", labels={}, created="2023-11-14T22:13:20Z"
    )
    return MissedPod(pod=pod, policies=("team",), is_required=False)


async def test_missed_pods_are_listed_for_those_who_may_see_mutations() -> None:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    routes = MissedPodsApi({each: missed(each) for each in ("shop", "bank")}).routes()
    async with served(routes, reviews, fake_process()) as client:
        async with client.get(MISSED_PODS_PATH) as answer:
            assert answer.status == 403
        reviews.allowed.add(("anna", "get", "mutations", "shop"))
        async with client.get(f"{MISSED_PODS_PATH}?namespace=shop") as answer:
            assert answer.status == 200
            found = await answer.json()
    assert found["kind"] == "MissedPodList"
    assert found["items"] == [
        {
            "namespace": "shop",
            "name": "web-1",
            "uid": "u-shop",
            "ownerKind": "",
            "ownerName": "",
            "created": "2023-11-14T22:13:20Z",
            "policies": ["team"],
            "required": False,
            "why": "admission has not seen this pod: it runs without the policies team",
        }
    ]
