"""Policies of a cluster as a person edits them, on a fake API server that knows who asks."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_common.secret import Secret
from nemutator_controller.editing.kube_policies import NOBODY, KubePolicies
from nemutator_controller.editing.refusals import READ_AGAIN, NotEditedError
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.policies.model import GROUP, KIND, PLURAL, VERSION, policy_from_document

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube
from tests.fakes.manifests import Json
from tests.fakes.meters import MemoryMeter

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION = Path(__file__).parents[3] / "deploy" / "crds" / "mutationpolicies.json"


def document(team: str = "blue", **changed: object) -> Json:
    spec = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": team}}}], **changed}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": "teams"},
        "spec": spec,
    }


@dataclass
class Place:
    kube: FakeKube
    policies: KubePolicies
    anna: Secret

    def allow(self, verbs: str, resources: str, group: str = "") -> None:
        self.kube.access.allow("anna", verbs, resources, group=group)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with FakeKube() as kube, Conversation(kube) as admin:
        await admin.create(DEFINITIONS, json.loads(DEFINITION.read_text()))
        # The brain itself may do nothing at all.
        access = Access(
            server=kube.url,
            ca=kube.ca_file.read_text(),
            token=Secret(kube.access.add_token("brain")),
        )
        async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
            anna = Secret(kube.access.add_token("anna"))
            yield Place(kube, KubePolicies(transport), anna)


async def test_everything_is_done_as_the_person_who_asks(place: Place) -> None:
    with pytest.raises(NotEditedError, match="mutationpolicies") as refused:
        await place.policies.all(place.anna)
    assert "RBAC" in refused.value.remedy
    with pytest.raises(NotEditedError, match=NOBODY):
        await place.policies.all(None)
    place.allow("list", PLURAL, GROUP)
    assert await place.policies.all(place.anna) == []
    with pytest.raises(NotEditedError, match="create"):
        await place.policies.save(place.anna, document(), version="")
    place.allow("create patch", PLURAL, GROUP)
    assert await place.policies.save(place.anna, document(), version="") == "created"
    [stored] = await place.policies.all(place.anna)
    assert (stored.name, stored.spec["mode"]) == ("teams", "Apply")


async def test_what_somebody_has_changed_meanwhile_is_not_overwritten(place: Place) -> None:
    place.allow("list create patch", PLURAL, GROUP)
    await place.policies.save(place.anna, document(), version="")
    [read] = await place.policies.all(place.anna)
    save = place.policies.save
    assert await save(place.anna, document("green"), version=read.version) == "changed"
    with pytest.raises(NotEditedError) as refused:
        await save(place.anna, document("red"), version=read.version)
    assert refused.value.remedy == READ_AGAIN
    [now] = await place.policies.all(place.anna)
    assert now.spec["mutations"] == [{"labels": {"set": {"team": "green"}}}]
    assert await save(place.anna, document("green"), version=now.version) == "unchanged"
    with pytest.raises(NotEditedError):
        await save(place.anna, document(), version="")


async def test_what_runs_is_read_with_its_namespace_and_its_owner(place: Place) -> None:
    store = place.kube.store
    store.put(kinds.NAMESPACES, {"metadata": {"name": "shop", "labels": {"tier": "web"}}})
    owner = {
        "kind": "ReplicaSet",
        "name": "web-5f",
        "controller": True,
        "uid": "u",
        "apiVersion": "apps/v1",
    }
    store.put(
        kinds.PODS,
        {
            "metadata": {
                "name": "web-5f-1",
                "namespace": "shop",
                "labels": {"pod-template-hash": "5f"},
                "ownerReferences": [owner],
            },
            "spec": {"containers": [{"name": "app", "image": "a"}]},
        },
    )
    policy = policy_from_document(document())
    place.allow("list", "pods")
    [pod] = (await place.policies.running(place.anna, policy)).items
    assert pod.namespace_labels is None
    assert (pod.subject.kind, pod.subject.name) == ("Pod", "web-5f-1")
    assert (pod.subject.owner_kind, pod.subject.owner_name) == ("Deployment", "web")
    place.allow("list", "namespaces")
    found = await place.policies.running(place.anna, policy)
    assert (found.more, found.defaulted) == (False, True)
    assert found.items[0].namespace_labels == {"tier": "web"}
    with pytest.raises(NotEditedError, match="deployments"):
        await place.policies.running(place.anna, policy_from_document(document(applyTo="template")))
