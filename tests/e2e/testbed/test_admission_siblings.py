"""Two processes of admission on one port before a real API server: each knows what the other has done."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names

from tests.e2e.talking import counted
from tests.e2e.testbed.admission_service import creating
from tests.e2e.testbed.rival_webhook import rival
from tests.e2e.testbed.webhook import Webhook, create, define, pod, policy, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

ENOUGH = 60
"""Pods; of so many, each process is asked about some."""


@pytest.fixture(scope="module")
def webhook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    define(cluster)
    folder = tmp_path_factory.mktemp("siblings")
    # Not strict, as by default: what is asked is answered at once.
    with standing(cluster, folder, strict=False, siblings=1) as hook:
        yield hook


@pytest.fixture
def namespace(webhook: Webhook) -> Iterator[str]:
    with new_namespace(webhook.cluster) as name:
        webhook.until_called(name)
        yield name


@pytest.mark.timeout(300)  # a control plane that may be busy, and two processes with their imports
def test_a_pod_that_loses_its_stamp_gets_it_back_from_whoever_is_asked(
    webhook: Webhook, namespace: str, tmp_path: Path
) -> None:
    cluster = webhook.cluster
    both = [webhook, replace(webhook, data=webhook.data.parent / "data-1")]
    share = {"resources": {"requests": {"cpu": {"ratio": 0.5}}}}
    cluster.apply(policy("half", namespace, share, {"labels": {"set": {"halved": "yes"}}}))

    def halved() -> bool:
        # Each of them has its own watch.
        made = [create(cluster, namespace, pod(), "--dry-run=server") for _ in range(6)]
        return all("halved" in each["metadata"].get("labels", {}) for each in made)

    until(halved, "the policy is known", within_s=90)
    stripped = pod(labels={"rival": "strips"}, annotations={"theirs": "x"})

    def decided() -> list[int]:
        return [len(each.decisions_in(namespace)) for each in both]

    with rival(cluster, namespace, tmp_path):
        until(
            lambda: (
                "theirs"
                not in create(cluster, namespace, stripped, "--dry-run=server")["metadata"].get(
                    "annotations", {}
                )
            ),
            "the rival is asked",
            within_s=60,
        )
        with creating(cluster, namespace, stripped, creators=6, pause_s=0.05) as made:
            until(
                lambda: made.asked >= ENOUGH and all(decided()),
                "both have decided",
                within_s=120,
            )
    found = json.loads(cluster.kubectl("get", "pods", f"--namespace={namespace}", "--output=json"))
    pods: list[dict[str, Any]] = found["items"]
    assert (made.refused, made.told, made.unstamped) == ([], [], 0)
    assert len(pods) == made.stamped
    cpu = {each["spec"]["containers"][0]["resources"]["requests"]["cpu"] for each in pods}
    assert cpu == {"500m"}, "a share is taken once, whoever is asked the second time"
    stamps = [json.loads(each["metadata"]["annotations"][names.MUTATION])["id"] for each in pods]
    records = [record["id"] for each in both for record in each.decisions_in(namespace)]
    assert sorted(records) == sorted(set(records))
    assert set(stamps) <= set(records), "each pod has a record"
    assert len(stamps) == len(set(stamps)), "and one of its own"
    # A record without a pod is of an answer that was lost, or came too late.
    print(json.dumps({"records": len(records), "stamps": len(stamps)}))
    known = [
        counted(each.data / f"{names.ADMISSION}.sock", names.ADMISSION_PLANS.name, origin="known")
        for each in both
    ]
    print(json.dumps({"pods": len(pods), "decided": decided(), "known": known}))
    cluster.kubectl("delete", "mutationpolicy", "half")


@pytest.mark.timeout(300)
def test_tokens_of_a_policy_are_for_labels_and_images(webhook: Webhook, namespace: str) -> None:
    cluster = webhook.cluster
    tokens = [
        {"key": "nemu_label_value_team", "value": "payments"},
        {"key": "nemu_image_app", "value": "20.04"},
    ]
    labels = {"labels": {"set": {"team": "nemu_label_value_team"}}}
    cluster.apply(policy("own", namespace, labels, tokens=tokens))
    webhook.until_known(namespace, "team")
    made = create(cluster, namespace, pod())
    assert made["metadata"]["labels"]["team"] == "payments"
    assert made["spec"]["containers"][0]["image"] == "docker.io/library/app:20.04"
    cluster.kubectl("delete", "mutationpolicy", "own")
