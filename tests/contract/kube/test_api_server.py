"""What our client relies on an API server for, and what it makes of each refusal."""

import json
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.failures import (
    AlreadyExistsError,
    ConflictError,
    DisruptionBudgetError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
    UnknownResourceError,
    UntrustedError,
)
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import EVENTS, PODS, REPLICA_SETS, Resource
from nemutator_controller.kube.reviewing import Reviewer
from nemutator_controller.kube.reviews import User, Wish
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.writing import OnlyIf

from tests.contract.kube import gadgets
from tests.contract.kube.conftest import Client
from tests.contract.kube.places import Place, access, user
from tests.contract.kube.refusals import pod
from tests.contract.kube.variants import on_the_fake_alone
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter

RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
BUDGETS: Resource[Object] = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", Object
)


@pytest.fixture
def here(place: Place) -> str:
    """The namespace of the test."""
    return place.namespace


async def test_a_created_pod_can_be_read_typed_and_raw(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("web"))
    found = await client.get(PODS, here, "web")
    assert found.metadata.uid
    assert found.spec.containers[0].image == "app:1"
    assert json.loads(await client.read.raw(PODS, here, "web"))["kind"] == "Pod"
    assert (await client.version()).startswith("v1.")


async def test_a_list_comes_in_pages_of_one_moment(client: Client, here: str) -> None:
    for number in range(5):
        await client.write.create(PODS, here, pod(f"web-{number}"))
    pages = client.read.pages(PODS, Selection(namespace=here), limit=2)
    first = await anext(pages)
    await client.write.create(PODS, here, pod("later"))
    await client.delete(PODS, here, "web-3")
    found = [manifest.metadata.name for manifest in first.items]
    found += [manifest.metadata.name async for page in pages for manifest in page.items]
    assert found == [f"web-{number}" for number in range(5)]


async def test_a_list_whose_moment_is_forgotten_says_so(client: Client, place: Place) -> None:
    for number in range(3):
        await client.write.create(EVENTS, place.namespace, event(place, f"e-{number}"))
    # No watch cache keeps Events: their pages come from etcd.
    pages = client.read.pages(EVENTS, Selection(namespace=place.namespace), limit=1)
    await anext(pages)
    await client.write.create(EVENTS, place.namespace, event(place, "later"))
    await place.compact()
    with pytest.raises(GoneError, match=r"410 The provided continue parameter is too old"):
        await anext(pages)


async def test_metadata_alone_can_be_listed(client: Client) -> None:
    async for page in client.read.pages(REPLICA_SETS):
        assert page.undecodable == ()


async def test_a_selection_narrows_a_list(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("a", labels={"tier": "web"}))
    await client.write.create(PODS, here, pod("b", labels={"tier": "db"}))
    await client.write.create(PODS, here, pod("c"))

    async def found(**narrowed: str) -> list[str]:
        pages = client.read.pages(PODS, Selection(namespace=here, **narrowed))
        return [manifest.metadata.name async for page in pages for manifest in page.items]

    assert await found(labels="tier in (web,db)") == ["a", "b"]
    assert await found(labels="!tier") == ["c"]
    assert await found(labels="tier!=web", fields="metadata.name!=c") == ["b"]
    assert await found(fields="spec.nodeName=,status.phase=Pending") == ["a", "b", "c"]


async def test_a_name_that_is_taken_is_told(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("web"))
    with pytest.raises(AlreadyExistsError):
        await client.write.create(PODS, here, pod("web"))


async def test_what_is_deleted_is_not_found(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("web"))
    await client.delete(PODS, here, "web")
    with pytest.raises(NotFoundError, match=f"get pods in namespace {here}"):
        await client.get(PODS, here, "web")


async def test_a_patch_of_what_has_changed_since_is_refused(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("web"))
    seen = (await client.get(PODS, here, "web")).metadata
    only_if = OnlyIf(resource_version=seen.resource_version, uid=seen.uid)
    label = {"metadata": {"labels": {"a": "1"}}}
    await client.write.merge_patch(PODS, here, "web", label, only_if=only_if)
    with pytest.raises(ConflictError):
        await client.write.merge_patch(
            PODS, here, "web", {"metadata": {"labels": {"a": "2"}}}, only_if=only_if
        )
    operation = {"op": "replace", "path": "/metadata/labels/a", "value": "3"}
    with pytest.raises(InvalidError):
        await client.write.json_patch(PODS, here, "web", [operation], only_if=only_if)
    await client.write.json_patch(PODS, here, "web", [operation], only_if=OnlyIf(uid=seen.uid))
    assert (await client.get(PODS, here, "web")).metadata.labels == {"a": "3"}


async def test_a_patch_of_another_object_of_the_same_name_is_refused(
    client: Client, here: str
) -> None:
    await client.write.create(PODS, here, pod("web"))
    other = OnlyIf(uid="not-this-one")
    label = {"metadata": {"labels": {"a": "1"}}}
    with pytest.raises(InvalidError):
        await client.write.merge_patch(PODS, here, "web", label, only_if=other)
    with pytest.raises(InvalidError):
        await client.write.json_patch(PODS, here, "web", [], only_if=other)
    with pytest.raises(InvalidError):
        await client.write.apply(PODS, here, "web", label, only_if=other)


async def test_apply_makes_and_changes_under_our_name(client: Client, here: str) -> None:
    for value in ("1", "2"):
        wanted = {"data": {"ours": value}}
        await client.write.apply(MAPS, here, "settings", wanted)
    raw = json.loads(await client.read.raw(MAPS, here, "settings"))
    assert raw["data"] == {"ours": "2"}
    assert {entry["manager"] for entry in raw["metadata"]["managedFields"]} == {"nemutator"}


async def test_apply_takes_what_is_anothers_only_by_force(
    client: Client, api: Conversation, here: str
) -> None:
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "theirs", "b": "theirs"}}
    await api.create(f"/api/v1/namespaces/{here}/configmaps", theirs, fieldManager="them")
    with pytest.raises(ConflictError, match=r'conflict with "them" using v1: \.data\.a'):
        await client.write.apply(MAPS, here, "settings", {"data": {"a": "ours"}})
    await client.write.apply(MAPS, here, "settings", {"data": {"a": "ours"}}, force=True)
    raw = json.loads(await client.read.raw(MAPS, here, "settings"))
    assert raw["data"] == {"a": "ours", "b": "theirs"}


async def test_apply_does_not_make_anew_what_is_gone(client: Client, here: str) -> None:
    await client.write.apply(MAPS, here, "settings", {"data": {"a": "1"}})
    seen = (await client.get(MAPS, here, "settings")).metadata
    await client.delete(MAPS, here, "settings")
    gone = OnlyIf(uid=seen.uid, resource_version=seen.resource_version)
    with pytest.raises(ConflictError):
        await client.write.apply(MAPS, here, "settings", {"data": {"a": "2"}}, only_if=gone)


async def test_status_is_written_apart(client: Client, here: str) -> None:
    await client.write.create(PODS, here, pod("web"))
    status = {"status": {"phase": "Running"}}
    await client.write.merge_patch(PODS, here, "web", status)
    assert await client.phase(here, "web") != "Running"
    await client.write.merge_patch(PODS, here, "web", status, subresource="status")
    assert await client.phase(here, "web") == "Running"


async def test_an_eviction_that_a_budget_forbids_is_told_apart(
    client: Client, place: Place
) -> None:
    here = place.namespace
    await client.write.create(PODS, here, pod("web", labels={"app": "web"}))
    # A pod that does not run yet protects nothing: the server evicts it whatever a budget says.
    await client.write.merge_patch(PODS, here, "web", {"status": RUNNING}, subresource="status")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    await client.write.create(BUDGETS, here, {"metadata": {"name": "pdb"}, "spec": spec})
    with pytest.raises(DisruptionBudgetError):
        await client.write.evict(here, "web")
    await place.counted("pdb")
    with pytest.raises(DisruptionBudgetError, match="violate the pod's disruption budget"):
        await client.write.evict(here, "web")
    await client.write.create(PODS, here, pod("two", labels={"app": "web"}))
    await client.write.merge_patch(PODS, here, "two", {"status": RUNNING}, subresource="status")
    await place.counted("pdb")
    await client.write.evict(here, "web")
    with pytest.raises(NotFoundError):
        await client.get(PODS, here, "web")


async def test_deleting_another_object_of_the_same_name_is_refused(
    client: Client, here: str
) -> None:
    await client.write.create(PODS, here, pod("web"))
    with pytest.raises(ConflictError):
        await client.delete(PODS, here, "web", uid="not-this-one")


async def test_an_object_that_is_too_large_is_no_reason_to_try_again(
    client: Client, api: Conversation, here: str
) -> None:
    await gadgets.define_gadgets(api)
    for size in (1_700_000, 3_200_000):
        with pytest.raises(InvalidError, match="too large") as told:
            await client.write.create(
                gadgets.RESOURCE, here, gadgets.gadget("big", text="x" * size)
            )
        assert not told.value.retry


async def test_a_forbidden_verb_names_the_missing_permission(place: Place) -> None:
    token = await place.somebody("nobody")
    async with HttpTransport(Fixed(access(place, token)), MemoryMeter()) as transport:
        with pytest.raises(ForbiddenError, match=r"^list pods in all namespaces: 403"):
            await anext(Client(transport, MemoryMeter()).read.pages(PODS))


async def test_a_permission_goes_as_far_as_it_was_given(place: Place, client: Client) -> None:
    token = await place.somebody("reader", verbs="get list", resources="pods")
    await client.write.create(PODS, place.namespace, pod("web"))
    async with HttpTransport(Fixed(access(place, token)), MemoryMeter()) as transport:
        theirs = Client(transport, MemoryMeter())
        assert (await theirs.get(PODS, place.namespace, "web")).metadata.uid
        with pytest.raises(ForbiddenError, match=f"delete pods in namespace {place.namespace}"):
            await theirs.delete(PODS, place.namespace, "web")
        with pytest.raises(ForbiddenError, match="create pods/eviction in namespace"):
            await theirs.write.evict(place.namespace, "web")


@pytest.mark.parametrize(
    ("group", "version", "plural"),
    [
        ("no.such", "v1", "things"),
        ("apps", "v1", "things"),
        ("apps", "v9", "deployments"),
        ("", "v1", "things"),
    ],
)
async def test_an_unknown_resource_is_no_empty_list_and_no_missing_object(
    client: Client, here: str, group: str, version: str, plural: str
) -> None:
    unknown: Resource[Object] = Resource(group, version, plural, "Thing", Object)
    with pytest.raises(UnknownResourceError, match=f"list {plural}.* in all namespaces"):
        await anext(client.read.pages(unknown))
    with pytest.raises(UnknownResourceError):
        await client.get(unknown, here, "one")


async def test_reviews_answer_who_and_whether(place: Place, client: Client) -> None:
    reviewer = Reviewer(client.transport)
    token = await place.somebody("jane", verbs="delete", resources="pods")
    verdict = await reviewer.token(Secret(token))
    jane = user(place, "jane")
    assert (verdict.authenticated, verdict.user.username) == (True, jane)
    assert "system:serviceaccounts" in verdict.user.groups
    stranger = await reviewer.token(Secret("stranger"))
    assert not stranger.authenticated
    wish = Wish(verb="delete", resource=PODS, namespace=place.namespace)
    assert (await reviewer.access(User(username=jane), wish)).allowed
    assert not (await reviewer.access(User(username="jane"), wish)).allowed
    elsewhere = Wish(verb="delete", resource=PODS, namespace="default")
    assert not (await reviewer.access(User(username=jane), elsewhere)).allowed


async def test_a_subresource_is_permitted_apart_from_its_resource(
    place: Place, client: Client
) -> None:
    reviewer = Reviewer(client.transport)
    await place.somebody("jane", verbs="create", resources="pods/eviction")
    await place.somebody("john", verbs="create", resources="pods")
    wish = Wish(verb="create", resource=PODS, namespace=place.namespace, subresource="eviction")
    assert (await reviewer.access(User(username=user(place, "jane")), wish)).allowed
    assert not (await reviewer.access(User(username=user(place, "john")), wish)).allowed


async def test_a_token_is_good_for_its_audience_alone(place: Place, client: Client) -> None:
    reviewer = Reviewer(client.transport)
    await place.somebody("jane")
    token = Secret(await place.token_for("jane", "nemutator"))
    verdict = await reviewer.token(token, ["nemutator", "vault"])
    assert (verdict.authenticated, verdict.audiences) == (True, ("nemutator",))
    assert not (await reviewer.token(token, ["vault"])).authenticated
    assert not (await reviewer.token(token)).authenticated
    async with HttpTransport(Fixed(access(place, token.reveal())), MemoryMeter()) as transport:
        with pytest.raises(UnauthorizedError):
            await Client(transport, MemoryMeter()).get(PODS, place.namespace, "web")


async def test_an_expired_token_is_refused_by_its_name(place: Place, here: str) -> None:
    async with HttpTransport(Fixed(access(place, "expired")), MemoryMeter()) as transport:
        with pytest.raises(UnauthorizedError):
            await Client(transport, MemoryMeter()).get(PODS, here, "web")


async def test_a_bad_ca_is_not_trusted(place: Place, here: str) -> None:
    async with FakeKube() as other:
        stranger = Access(server=place.url, ca=other.ca_file.read_text(), token=Secret("x"))
    async with HttpTransport(Fixed(stranger), MemoryMeter()) as transport:
        with pytest.raises(UntrustedError):
            await Client(transport, MemoryMeter()).get(PODS, here, "web")
    nonsense = Access(server=place.url, ca="no certificate", token=Secret("x"))
    async with HttpTransport(Fixed(nonsense), MemoryMeter()) as transport:
        with pytest.raises(UntrustedError):
            await Client(transport, MemoryMeter()).get(PODS, here, "web")


async def test_an_unreachable_server_is_unavailable() -> None:
    meter = MemoryMeter()
    async with HttpTransport(Fixed(Access(server="https://127.0.0.1:1")), meter) as transport:
        with pytest.raises(UnavailableError):
            await Client(transport, meter).get(PODS, "default", "web")
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


async def test_a_401_renews_the_token_once(place: Place, here: str) -> None:
    rotating = Rotating(access(place, "old"), access(place))
    async with HttpTransport(rotating, MemoryMeter()) as transport:
        assert (await Client(transport, MemoryMeter()).version()).startswith("v")
    assert rotating.renewals == 1
    refused = Rotating(access(place, "old"), access(place, "older"), access(place))
    async with HttpTransport(refused, MemoryMeter()) as transport:
        with pytest.raises(UnauthorizedError):
            await Client(transport, MemoryMeter()).get(PODS, here, "web")
    assert refused.renewals == 1


async def test_a_ca_of_before_is_read_again(place: Place) -> None:
    async with FakeKube() as other:
        before = Access(server=place.url, ca=other.ca_file.read_text(), token=Secret("old"))
    rotating = Rotating(before, access(place))
    async with HttpTransport(rotating, MemoryMeter()) as transport:
        assert (await Client(transport, MemoryMeter()).version()).startswith("v")
    assert rotating.renewals == 1


@on_the_fake_alone("a real server's priority and fairness has no button")
async def test_a_429_says_when_to_come_back(kube: FakeKube, client: Client, here: str) -> None:
    kube.controls.fail_next(429, retry_after_s=7)
    with pytest.raises(TooManyRequestsError) as told:
        await client.get(PODS, here, "web")
    assert told.value.retry_after_s == 7


@on_the_fake_alone("a real server does not fail on demand")
async def test_a_500_can_be_tried_again(kube: FakeKube, client: Client, here: str) -> None:
    kube.controls.fail_next(500)
    with pytest.raises(UnavailableError) as told:
        await client.get(PODS, here, "web")
    assert told.value.retry


MAPS: Resource[Object] = Resource("", "v1", "configmaps", "ConfigMap", Object)


def event(place: Place, name: str) -> dict[str, Any]:
    about = {"namespace": place.namespace}
    return {"metadata": {"name": name}, "involvedObject": about, "reason": "Tried"}
