"""What our client relies on an API server for, and what it makes of each refusal."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.kube import calls
from nemutator_common.kube.calls import Selection
from nemutator_common.kube.configuration import Access, Fixed
from nemutator_common.kube.failures import (
    AlreadyExistsError,
    ConflictError,
    DisruptionBudgetError,
    ForbiddenError,
    InvalidError,
    KubeError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
    UnknownResourceError,
    UntrustedError,
)
from nemutator_common.kube.informing import Informer
from nemutator_common.kube.objects import Object, Pod
from nemutator_common.kube.resources import NAMESPACES, PODS, REPLICA_SETS, Resource
from nemutator_common.kube.reviewing import Reviewer, User, Wish
from nemutator_common.kube.transport import HttpTransport
from nemutator_common.kube.writing import OnlyIf
from nemutator_common.secret import Secret

from tests.contract.kube.conftest import Client, access
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter

TEAM = "default"


def web(name: str = "web", **metadata: object) -> dict[str, Any]:
    containers = [{"name": "app", "image": "app:1"}]
    return {"metadata": {"name": name, **metadata}, "spec": {"containers": containers}}


@contextlib.asynccontextmanager
async def informed(client: Client) -> AsyncIterator[Informer[Pod]]:
    informer = client.pods()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        async with asyncio.timeout(10):
            await informer.synced()
        yield informer
        task.cancel()


async def until(informer: Informer[Pod], true: Callable[[set[str]], bool]) -> None:
    """Wait until the names in the picture are as wanted, by its own changes."""
    with informer.subscribe("test") as subscription:
        async with asyncio.timeout(15):
            while not true({key.rpartition("/")[2] for key in informer.snapshot().objects}):
                await subscription.next()


async def test_a_created_pod_can_be_read_typed_and_raw(client: Client) -> None:
    await client.write.create(PODS, TEAM, web())
    pod = await client.read.get(PODS, TEAM, "web")
    assert pod.metadata.uid
    assert pod.spec.containers[0].image == "app:1"
    assert json.loads(await client.read.raw(PODS, TEAM, "web"))["kind"] == "Pod"
    assert (await client.read.version()).startswith("v1.")


async def test_a_list_comes_in_pages_of_one_moment(client: Client) -> None:
    for number in range(5):
        await client.write.create(PODS, TEAM, web(f"web-{number}"))
    pages = client.read.pages(PODS, limit=2)
    first = await anext(pages)
    await client.write.create(PODS, TEAM, web("later"))
    found = [thing.metadata.name for thing in first.items]
    found += [thing.metadata.name async for page in pages for thing in page.items]
    assert found == [f"web-{number}" for number in range(5)]


async def test_metadata_alone_can_be_listed(client: Client) -> None:
    async for page in client.read.pages(REPLICA_SETS):
        assert page.undecodable == ()


async def test_a_name_that_is_taken_is_told(client: Client) -> None:
    await client.write.create(PODS, TEAM, web())
    with pytest.raises(AlreadyExistsError):
        await client.write.create(PODS, TEAM, web())


async def test_dry_run_keeps_nothing(client: Client) -> None:
    await client.write.create(PODS, TEAM, web(), dry_run=True)
    with pytest.raises(NotFoundError, match="get pods in namespace default"):
        await client.read.get(PODS, TEAM, "web")


async def test_a_patch_of_what_has_changed_since_is_refused(client: Client) -> None:
    await client.write.create(PODS, TEAM, web())
    seen = (await client.read.get(PODS, TEAM, "web")).metadata
    only_if = OnlyIf(resource_version=seen.resource_version, uid=seen.uid)
    label = {"metadata": {"labels": {"a": "1"}}}
    await client.write.merge_patch(PODS, TEAM, "web", label, only_if=only_if)
    with pytest.raises(ConflictError):
        await client.write.merge_patch(
            PODS, TEAM, "web", {"metadata": {"labels": {"a": "2"}}}, only_if=only_if
        )
    operation = {"op": "replace", "path": "/metadata/labels/a", "value": "3"}
    with pytest.raises(InvalidError):
        await client.write.json_patch(PODS, TEAM, "web", [operation], only_if=only_if)
    await client.write.json_patch(PODS, TEAM, "web", [operation], only_if=OnlyIf(uid=seen.uid))
    assert (await client.read.get(PODS, TEAM, "web")).metadata.labels == {"a": "3"}


async def test_apply_makes_and_changes_under_our_name(client: Client) -> None:
    for value in ("1", "2"):
        wanted = {"metadata": {"labels": {"ours": value}}}
        await client.write.apply(NAMESPACES, "", "team", wanted)
    raw = json.loads(await client.read.raw(NAMESPACES, "", "team"))
    assert raw["metadata"]["labels"]["ours"] == "2"
    assert {entry["manager"] for entry in raw["metadata"]["managedFields"]} == {"nemutator"}


async def test_status_is_written_apart(client: Client) -> None:
    await client.write.create(PODS, TEAM, web())
    status = {"status": {"phase": "Running"}}
    await client.write.merge_patch(PODS, TEAM, "web", status)
    assert (await client.read.get(PODS, TEAM, "web")).status.phase != "Running"
    await client.write.merge_patch(PODS, TEAM, "web", status, subresource="status")
    assert (await client.read.get(PODS, TEAM, "web")).status.phase == "Running"


async def test_an_eviction_that_a_budget_forbids_is_told_apart(client: Client) -> None:
    budget: Resource[Object] = Resource(
        "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", Object
    )
    await client.write.create(PODS, TEAM, web(labels={"app": "web"}))
    # A pod that does not run yet protects nothing: the server evicts it whatever a budget says.
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.write.merge_patch(PODS, TEAM, "web", {"status": running}, subresource="status")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await client.write.create(budget, TEAM, {"metadata": {"name": "pdb"}, "spec": spec})
    with pytest.raises(DisruptionBudgetError):
        await client.write.evict(TEAM, "web")
    await client.write.delete(budget, TEAM, "pdb")
    await client.write.evict(TEAM, "web")


async def test_deleting_another_object_of_the_same_name_is_refused(client: Client) -> None:
    await client.write.create(PODS, TEAM, web())
    with pytest.raises(ConflictError):
        await client.write.delete(PODS, TEAM, "web", only_if=OnlyIf(uid="not-this-one"))


async def test_a_forbidden_verb_names_the_missing_permission(server: FakeKube) -> None:
    token = server.access.add_token("nobody")
    async with HttpTransport(Fixed(access(server, token)), MemoryMeter()) as transport:
        with pytest.raises(ForbiddenError, match=r"^list pods in all namespaces: 403"):
            await anext(Client(transport, MemoryMeter()).read.pages(PODS))


async def test_an_unknown_api_group_is_no_empty_list(client: Client) -> None:
    unknown: Resource[Object] = Resource("no.such", "v1", "things", "Thing", Object)
    with pytest.raises(UnknownResourceError, match=r"list things\.no\.such in all namespaces"):
        await anext(client.read.pages(unknown))


async def test_reviews_answer_who_and_whether(server: FakeKube, client: Client) -> None:
    reviewer = Reviewer(client.transport)
    token = server.access.add_token("jane", "dev")
    verdict = await reviewer.token(Secret(token))
    assert (verdict.authenticated, verdict.user.username) == (True, "jane")
    assert not (await reviewer.token(Secret("stranger"))).authenticated
    wish = Wish(verb="delete", resource=PODS, namespace=TEAM)
    assert not (await reviewer.access(User(username="jane"), wish)).allowed


async def test_an_expired_token_is_refused_by_its_name(server: FakeKube) -> None:
    async with HttpTransport(Fixed(access(server, "expired")), MemoryMeter()) as transport:
        with pytest.raises(UnauthorizedError):
            await Client(transport, MemoryMeter()).read.get(PODS, TEAM, "web")


async def test_a_bad_ca_is_not_trusted(server: FakeKube) -> None:
    async with FakeKube() as other:
        stranger = Access(server=server.url, ca=other.ca_file.read_text(), token=Secret("x"))
    async with HttpTransport(Fixed(stranger), MemoryMeter()) as transport:
        with pytest.raises(UntrustedError):
            await Client(transport, MemoryMeter()).read.get(PODS, TEAM, "web")
    nonsense = Access(server=server.url, ca="no certificate", token=Secret("x"))
    async with HttpTransport(Fixed(nonsense), MemoryMeter()) as transport:
        with pytest.raises(UntrustedError):
            await Client(transport, MemoryMeter()).read.get(PODS, TEAM, "web")


async def test_an_unreachable_server_is_unavailable() -> None:
    meter = MemoryMeter()
    async with HttpTransport(Fixed(Access(server="https://127.0.0.1:1")), meter) as transport:
        with pytest.raises(UnavailableError):
            await Client(transport, meter).read.get(PODS, TEAM, "web")
    assert meter.value(names.KUBE_REQUESTS, verb="get", result="unreachable") == 1


class Rotating:
    """Credentials that were exchanged while nobody asked."""

    def __init__(self, *given: Access) -> None:
        self._given = [*given]
        self.renewals = 0

    async def access(self, *, renew: bool = False) -> Access:
        if renew:
            self.renewals += 1
            self._given.pop(0)
        return self._given[0]


async def test_a_401_renews_the_token_once(server: FakeKube) -> None:
    rotating = Rotating(access(server, "old"), access(server))
    async with HttpTransport(rotating, MemoryMeter()) as transport:
        assert (await Client(transport, MemoryMeter()).read.version()).startswith("v")
    assert rotating.renewals == 1
    refused = Rotating(access(server, "old"), access(server, "older"), access(server))
    async with HttpTransport(refused, MemoryMeter()) as transport:
        with pytest.raises(UnauthorizedError):
            await Client(transport, MemoryMeter()).read.get(PODS, TEAM, "web")
    assert refused.renewals == 1


async def test_a_rotated_ca_is_read_again(server: FakeKube) -> None:
    before = access(server)
    await server.rotate_authority()
    rotating = Rotating(before, access(server))
    async with HttpTransport(rotating, MemoryMeter()) as transport:
        assert (await Client(transport, MemoryMeter()).read.version()).startswith("v")
    assert rotating.renewals == 1


async def test_a_429_says_when_to_come_back(server: FakeKube, client: Client) -> None:
    server.controls.fail_next(429, retry_after_s=7)
    with pytest.raises(TooManyRequestsError) as told:
        await client.read.get(PODS, TEAM, "web")
    assert told.value.retry_after_s == 7


async def test_a_500_can_be_tried_again(server: FakeKube, client: Client) -> None:
    server.controls.fail_next(500)
    with pytest.raises(UnavailableError) as told:
        await client.read.get(PODS, TEAM, "web")
    assert told.value.retry


async def test_the_informer_follows_creation_change_and_deletion(client: Client) -> None:
    await client.write.create(PODS, TEAM, web("a"))
    async with informed(client) as informer:
        await client.write.create(PODS, TEAM, web("b"))
        await until(informer, lambda names: {"a", "b"} <= names)
        await client.write.delete(PODS, TEAM, "a")
        await until(informer, lambda names: "a" not in names)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "expire", "restart", "compact"])
async def test_the_informer_survives(server: FakeKube, client: Client, how: str) -> None:
    async with informed(client) as informer:
        if how == "cut":
            server.controls.cut_watches()
        elif how == "expire":
            server.controls.expire_watches()
        elif how == "compact":
            server.controls.gone_as_status = True
            server.controls.cut_watches()
            server.store.advance(10)
            server.controls.compact()
        else:
            await server.controls.restart()
        with contextlib.suppress(KubeError):
            await client.write.create(PODS, TEAM, web("after"))
        await until(informer, lambda names: "after" in names)


async def test_an_object_of_3_mb_comes_through_a_watch(server: FakeKube, client: Client) -> None:
    async with informed(client) as informer:
        annotations = {"big": "x" * 2_900_000}
        thing = {"kind": "Pod", **web("big", namespace=TEAM, resourceVersion="9", uid="u",
                                      annotations=annotations)}  # fmt: skip
        server.controls.inject_event("ADDED", thing)
        await until(informer, lambda names: "big" in names)


async def test_a_half_open_connection_is_given_up(server: FakeKube, client: Client) -> None:
    everything = calls.watching(PODS, Selection(), resource_version="", timeout_s=300)
    async with client.transport.stream(everything, idle_s=0.2) as chunks:
        await anext(chunks)
        server.controls.stall_watches()
        with pytest.raises(UnavailableError, match="no byte for"):
            await drained(chunks)


async def drained(chunks: AsyncIterator[bytes]) -> None:
    async for _ in chunks:
        pass
