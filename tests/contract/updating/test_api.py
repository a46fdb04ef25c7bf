"""The API of sizing over HTTP, behind the gate of a cluster's console."""

from nemutator_controller.updating.endpoint import SIZING_PATH, SizingApi
from nemutator_controller.updating.progress import PolicyProgress

from tests.contract.gated_apis import served
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews
from tests.fakes.sized_pods import pod_document, pod_of


async def test_what_became_of_pods_is_shown_to_those_who_may_see_advice() -> None:
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    done = PolicyProgress(mode="InPlace")
    done.note(pod_of(pod_document()), "waits", "not now")
    routes = SizingApi(lambda: {"p": done}, lambda: {"q": "spec: wrong"}).routes()
    async with served(routes, reviews, fake_process()) as client:
        async with client.get(SIZING_PATH) as answer:
            assert answer.status == 403
        reviews.allowed.add(("anna", "get", "advice", "shop"))
        async with client.get(f"{SIZING_PATH}?namespace=shop") as answer:
            assert answer.status == 200
            found = await answer.json()
    assert found["kind"] == "SizingList"
    assert found["items"] == [
        {
            "policy": "p",
            "mode": "InPlace",
            "counts": {"waits": 1},
            "pods": [
                {
                    "namespace": "shop",
                    "workload": "Deployment/web",
                    "pod": "web-1",
                    "state": "waits",
                    "why": "not now",
                }
            ],
        },
        {"policy": "q", "mode": "", "fault": "spec: wrong", "counts": {}, "pods": []},
    ]
