"""One suite for all places where changed objects are: files, API servers, and the fake of tests."""

import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.ports import Objects
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import DEPLOYMENTS, PODS, Resource
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.stamps import Stamp, written

from tests.contract.kube.conftest import Client
from tests.contract.kube.fake_place import FakePlace
from tests.contract.kube.places import Place, access
from tests.contract.kube.real_place import real_place
from tests.contract.kube.variants import FAKE, REAL, on_the_fake_alone
from tests.fakes.decisions import CPU, TEAM, edit
from tests.fakes.journals import MemoryObjects
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.testbed.parts.control_plane import Cluster

Json = dict[str, Any]
NOTE = "metadata.annotations[note]"

BUDGETS: Resource[Object] = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", Object
)


def pod(name: str = "web-1", **labels: str) -> Json:
    resources = {"requests": {"cpu": "250m"}, "limits": {"cpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"team": "blue", **labels}},
        "spec": {
            "containers": [{"name": "app", "image": "app:1", "resources": resources}],
            "schedulerName": "nobody",
        },
    }


def deployment() -> Json:
    template = pod()
    template["metadata"] = {"labels": {"app": "web", "team": "blue"}}
    del template["apiVersion"], template["kind"]
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": selector, "template": template},
    }


@dataclass
class Where:
    """Objects of some kind, and how somebody else makes and changes them."""

    objects: Objects
    namespace: str
    put: Callable[[Json], Coroutine[None, None, None]]
    label: Callable[[Json, str, str], Coroutine[None, None, None]]
    """Gives the object of this manifest a label, past us."""

    def subject(self, manifest: Json) -> Subject:
        return Subject(
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            namespace=self.namespace,
            name=manifest["metadata"]["name"],
        )

    async def made(self, manifest: Json) -> LiveObject:
        await self.put(manifest)
        live = await self.objects.get(self.subject(manifest))
        assert live is not None
        return live

    async def seen(self, live: LiveObject) -> LiveObject:
        found = await self.objects.get(live.subject)
        assert found is not None
        return found

    async def now(self, live: LiveObject) -> Json:
        return dict((await self.seen(live)).document)


def in_memory() -> Where:
    objects = MemoryObjects()
    where = Where(objects, "team", None, None)  # type: ignore[arg-type]

    async def put(manifest: Json) -> None:
        objects.place(where.subject(manifest), manifest)

    async def label(manifest: Json, key: str, value: str) -> None:
        live = await objects.get(where.subject(manifest))
        assert live is not None
        document = msgspec.json.decode(msgspec.json.encode(live.document))
        document["metadata"].setdefault("labels", {})[key] = value
        objects.place(live.subject, document)

    where.put, where.label = put, label
    return where


def in_files(root: Path) -> Where:
    objects = FileObjects(root / "objects")
    where = Where(objects, "team", None, None)  # type: ignore[arg-type]

    async def put(manifest: Json) -> None:
        await objects.put(where.subject(manifest), manifest)

    async def label(manifest: Json, key: str, value: str) -> None:
        name = manifest["metadata"]["name"]
        file = root / "objects" / manifest["kind"] / "team" / f"{name}.json"
        document = msgspec.json.decode(file.read_bytes())
        document["metadata"].setdefault("labels", {})[key] = value
        file.write_bytes(msgspec.json.encode(document))

    where.put, where.label = put, label
    return where


def in_cluster(client: Client, place: Place) -> Where:
    resources: dict[str, Resource[Any]] = {"Pod": PODS, "Deployment": DEPLOYMENTS}

    async def put(manifest: Json) -> None:
        await client.write.create(resources[manifest["kind"]], place.namespace, manifest)

    async def label(manifest: Json, key: str, value: str) -> None:
        resource, name = resources[manifest["kind"]], manifest["metadata"]["name"]
        patch = {"metadata": {"labels": {key: value}}}
        await client.write.merge_patch(resource, place.namespace, name, patch)

    return Where(KubeObjects(client.read, client.write), place.namespace, put, label)


@pytest.fixture(params=["memory", "files", FAKE, REAL])
async def where(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Where]:
    if request.param == "memory":
        yield in_memory()
        return
    if request.param == "files":
        yield in_files(tmp_path)
        return
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "fake":
            place: Place = FakePlace(await stack.enter_async_context(FakeKube()))
        else:
            there: Cluster = request.getfixturevalue("cluster")
            place = await stack.enter_async_context(real_place(there))
        transport = HttpTransport(Fixed(access(place)), MemoryMeter())
        await stack.enter_async_context(transport)
        yield in_cluster(Client(transport, MemoryMeter()), place)


async def test_what_is_there_is_shown_with_a_version_and_nothing_is_none(where: Where) -> None:
    live = await where.made(pod())
    assert live.version
    assert live.subject.name == "web-1"
    assert live.document["spec"]["containers"][0]["image"] == "app:1"
    assert await where.objects.get(replace(live.subject, name="web-2")) is None
    assert (await where.objects.get(live.subject)) == live


async def test_edits_are_made_and_the_rest_stays(where: Where) -> None:
    live = await where.made(pod(app="web"))
    edits = [edit(TEAM, before="blue", after="red"), edit(NOTE, after="by us")]
    after = await where.objects.write(live, edits, resize=False)
    assert after.version != live.version
    metadata = (await where.now(live))["metadata"]
    assert metadata["labels"] == {"team": "red", "app": "web"}
    assert metadata["annotations"] == {"note": "by us"}
    await where.objects.write(after, [edit(NOTE, before="by us")], resize=False)
    assert not (await where.now(live))["metadata"].get("annotations")


async def test_a_rehearsal_writes_nothing_and_refuses_what_a_write_would(where: Where) -> None:
    live = await where.made(pod())
    edits = [edit(TEAM, before="blue", after="red")]
    await where.objects.rehearse(live, edits, resize=False)
    assert await where.objects.get(live.subject) == live
    await where.label(pod(), "app", "web")
    with pytest.raises(ChangedError):
        await where.objects.rehearse(live, edits, resize=False)


async def test_a_field_that_has_changed_meanwhile_is_not_overwritten(where: Where) -> None:
    live = await where.made(pod())
    await where.label(pod(), "team", "green")
    edits = [edit(NOTE, after="by us"), edit(TEAM, before="blue", after="red")]
    with pytest.raises(ChangedError):
        await where.objects.write(live, edits, resize=False)
    metadata = (await where.now(live))["metadata"]
    assert metadata["labels"]["team"] == "green"
    assert "annotations" not in metadata


async def test_where_a_field_was_absent_any_change_counts(where: Where) -> None:
    live = await where.made(pod())
    await where.label(pod(), "app", "web")
    with pytest.raises(ChangedError):
        await where.objects.write(live, [edit(NOTE, after="by us")], resize=False)
    assert "annotations" not in (await where.now(live))["metadata"]


async def test_the_template_of_a_workload_can_be_edited(where: Where) -> None:
    live = await where.made(deployment())
    edits = [edit(TEAM, before="blue"), edit(CPU, before="250m", after="1")]
    for _ in range(100):
        # A real one's controller writes its status at the same time: then it is read again.
        with contextlib.suppress(ChangedError):
            await where.objects.write(live, edits, resize=False)
            break
        live = replace(live, version=(await where.seen(live)).version)
    template = (await where.now(live))["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": "web"}
    assert template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"


# --- what only an API server does ----------------------------------------------------------------
@pytest.fixture
def served(client: Client, place: Place) -> Where:
    return in_cluster(client, place)


async def test_a_pod_is_resized_to_what_it_had(served: Where) -> None:
    live = await served.made(pod())
    edits = [edit(CPU, before="250m", after="500m")]
    after = await served.objects.write(live, edits, resize=True)
    (container,) = after.document["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "500m"
    assert container["resources"]["limits"]["cpu"] == "1"


async def test_what_a_resize_cannot_do_is_refused_with_the_servers_reason(served: Where) -> None:
    unlimited = pod()
    requests = {"cpu": "250m", "memory": "64Mi"}
    unlimited["spec"]["containers"][0]["resources"] = {"requests": requests}
    live = await served.made(unlimited)
    with pytest.raises(ObjectRefusedError, match="resource requests cannot be removed"):
        await served.objects.write(live, [edit(CPU, before="250m")], resize=True)
    assert await served.objects.get(live.subject) == live


async def test_another_pod_of_the_same_name_is_another_object(served: Where) -> None:
    live = await served.made(pod())
    stranger = replace(live.subject, uid="00000000-0000-0000-0000-000000000000")
    assert await served.objects.get(stranger) is None
    with pytest.raises((ChangedError, ObjectRefusedError)):
        await served.objects.evict(replace(live, subject=stranger))
    assert await served.objects.get(live.subject) == live


async def test_a_pod_is_found_by_its_mark_and_by_how_its_name_begins(served: Where) -> None:
    for number in (1, 2):
        made = pod(f"web-{number}")
        made["metadata"]["annotations"] = {names.MUTATION: written(Stamp(f"d{number}", ()))}
        await served.put(made)
    copied = pod("api-1")
    copied["metadata"]["annotations"] = {names.MUTATION: written(Stamp("d2", ()))}
    await served.put(copied)
    unnamed = replace(served.subject(copied), name="", generate_name="web-")
    found = await served.objects.find(unnamed, "d2")
    assert found is not None
    assert found.subject.name == "web-2"
    assert await served.objects.find(unnamed, "d3") is None


async def test_an_evicted_pod_is_gone_and_again_is_no_fault(served: Where) -> None:
    live = await served.made(pod())
    await served.objects.evict(live)
    assert await served.objects.get(live.subject) is None
    await served.objects.evict(live)


async def test_a_disruption_budget_refuses_an_eviction(
    served: Where, client: Client, place: Place
) -> None:
    live = await served.made(pod(app="web"))
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.write.merge_patch(
        PODS, place.namespace, "web-1", {"status": running}, subresource="status"
    )
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await client.write.create(BUDGETS, place.namespace, {"metadata": {"name": "pdb"}, "spec": spec})
    await place.counted("pdb")
    with pytest.raises(ObjectRefusedError, match="disruption budget"):
        await served.objects.evict(live)


async def test_a_missing_permission_is_named(place: Place) -> None:
    token = await place.somebody("reader", verbs="get", resources="pods")
    async with HttpTransport(Fixed(access(place, token)), MemoryMeter()) as transport:
        client = Client(transport, MemoryMeter())
        where = in_cluster(client, place)
        administrator = access(place)
        async with HttpTransport(Fixed(administrator), MemoryMeter()) as other:
            await in_cluster(Client(other, MemoryMeter()), place).put(pod())
        live = await where.objects.get(where.subject(pod()))
        assert live is not None
        with pytest.raises(ObjectRefusedError, match=f"patch pods in namespace {place.namespace}"):
            await where.objects.write(live, [edit(TEAM, before="blue")], resize=False)


async def test_kinds_that_nobody_takes_back_are_refused(served: Where) -> None:
    with pytest.raises(ObjectRefusedError, match="Gadget: only Pod, Deployment"):
        await served.objects.get(
            Subject(api_version="v1", kind="Gadget", namespace="team", name="x")
        )


@on_the_fake_alone("it is asked to fail")
async def test_a_server_that_is_down_is_unreachable(served: Where, place: Place) -> None:
    live = await served.made(pod())
    assert isinstance(place, FakePlace)
    place.kube.controls.fail_next(503, verb="get")
    with pytest.raises(UnreachableError):
        await served.objects.get(live.subject)
