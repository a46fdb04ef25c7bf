"""The API of missed pods over HTTP, behind the gate of a cluster's console."""

from nemutator_controller.following.endpoint import MISSED_PODS_PATH, MissedPodsApi

from tests.contract.gated_apis import served
from tests.fakes.followed_pods import missed_pod
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews


async def test_missed_pods_are_listed_for_those_who_may_see_mutations() -> None:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    items = [missed_pod(namespace=each) for each in ("shop", "bank")]
    routes = MissedPodsApi({each.pod.subject.uid: each for each in items}).routes()
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
            "uid": "u-shop-web-1",
            "ownerKind": "",
            "ownerName": "",
            "created": "2023-11-14T22:13:20Z",
            "since": 1_700_000_000.0,
            "noticed": 1_700_000_003.0,
            "policies": ["team"],
            "required": False,
            "result": "told",
            "why": "admission has not seen this pod: it runs without the policies team",
        }
    ]
