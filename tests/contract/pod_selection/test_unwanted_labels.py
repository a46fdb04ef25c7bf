"""From the selectors that an API server shows to the pods that admission answers: no workload loses one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import assume, given
from hypothesis import strategies as st
from nemutator_common.admission_snapshots import UNWANTED_PATH
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock
from nemutator_controller.admission.snapshots import unwanted_from
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import DEPLOYMENTS, PODS
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.workload_objects import BudgetSelector, WatchedWorkload
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.pod_selection.endpoint import UnwantedApi
from nemutator_controller.pod_selection.unwanted_labels import KnownUnwanted
from nemutator_controller.pod_selection.watching import SelectorWatching
from nemutator_controller.policies.model import policy_of
from nemutator_controller.policies.plans import Situation, plan

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

PATIENCE_S = 60.0
WEB = ("shop", "Deployment", "web")
WITHOUT = {"key": "legacy", "operator": "DoesNotExist"}


def deployment(*expressions: Any) -> Any:
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}, "matchExpressions": list(expressions)}
        },
    }


def client(watching: SelectorWatching | None) -> TestClient[Any, Any]:
    app = web.Application()
    app.add_routes([route.route for route in UnwantedApi(watching).routes()])
    return TestClient(TestServer(app))


@contextlib.asynccontextmanager
async def watched(kube: FakeKube, held_s: float) -> AsyncIterator[SelectorWatching]:
    access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
    clock, meter = SystemClock(), MemoryMeter()
    process = fake_process(clock=clock, meter=meter, roll=0.0)
    async with HttpTransport(Fixed(access), meter) as transport, asyncio.TaskGroup() as group:
        deployments = Informer(DEPLOYMENTS, transport=transport, process=process)
        pods = Informer(PODS, transport=transport, process=process)
        watching = SelectorWatching({"Deployment": deployments}, pods, process, held_s=held_s)
        bodies = (deployments.run, pods.run, *watching.tasks().values())
        running = [group.create_task(body()) for body in bodies]
        yield watching
        for task in running:
            task.cancel()


async def test_admission_hears_of_a_selector_as_soon_as_its_workload_is_there() -> None:
    async with (
        FakeKube() as kube,
        watched(kube, PATIENCE_S) as watching,
        client(watching) as admission,
    ):
        first = await admission.get(UNWANTED_PATH)
        assert unwanted_from(await first.read()) == {}
        known = {"If-None-Match": first.headers["ETag"]}
        kube.store.put(kinds.DEPLOYMENTS, deployment(WITHOUT))
        # It is held until there is something new.
        following = await admission.get(UNWANTED_PATH, headers=known)
        assert unwanted_from(await following.read()) == {WEB: frozenset({"legacy"})}
        assert watching.of(WEB) == {"legacy"}


async def test_what_is_known_is_confirmed_after_a_while() -> None:
    async with FakeKube() as kube, watched(kube, 0.0) as watching, client(watching) as admission:
        first = await admission.get(UNWANTED_PATH)
        while first.status == 503:
            first = await admission.get(UNWANTED_PATH)
        known = {"If-None-Match": first.headers["ETag"]}
        assert (await admission.get(UNWANTED_PATH, headers=known)).status == 304


async def test_without_a_cluster_there_are_none() -> None:
    async with client(None) as admission:
        answer = await admission.get(UNWANTED_PATH)
        assert unwanted_from(await answer.read()) == {}


KEYS = ("app", "legacy", "tier")
VALUES = st.sampled_from(("a", "b"))
TEXTS = st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=3)
WAYS = st.sampled_from(("set", "add"))
LEGACY = st.sampled_from(
    (
        {"key": "legacy", "operator": "DoesNotExist"},
        {"key": "legacy", "operator": "NotIn", "values": ["a"]},
    )
)
TIER = st.sampled_from(
    (
        {"key": "tier", "operator": "DoesNotExist"},
        {"key": "tier", "operator": "NotIn", "values": ["b"]},
        {"key": "tier", "operator": "Exists"},
        {"key": "tier", "operator": "In", "values": ["a"]},
    )
)


@given(
    tier=st.sampled_from(({}, {"tier": "a"})),
    expressions=st.lists(st.one_of(LEGACY, TIER), min_size=1, max_size=3),
    policies=st.lists(st.tuples(WAYS, TEXTS), min_size=1, max_size=3),
)
def test_whatever_policies_say_its_workload_finds_the_pod(
    tier: Mapping[str, str], expressions: list[Any], policies: list[tuple[str, Any]]
) -> None:
    template = {"app": "a", **tier}
    selector = {"matchLabels": {"app": "a"}, "matchExpressions": expressions}
    selects = msgspec.convert(selector, BudgetSelector).selects
    # No API server stores another workload.
    assume(selects(template))
    known = KnownUnwanted()
    document = deployment() | {"spec": {"selector": selector}}
    known.see("Deployment", msgspec.convert(document, WatchedWorkload))
    told = unwanted_from(msgspec.json.encode(known.told()))
    pod = {"metadata": {"labels": template}, "spec": {"containers": [{"name": "app"}]}}
    subject = Subject(
        api_version="v1", kind="Pod", namespace="shop", name="", owner_kind="Deployment", owner_name="web"
    )  # fmt: skip
    situation = Situation(subject=subject, unwanted=told.get(WEB, frozenset()))
    sound = [
        policy_of(f"p{number}", {"mode": "Apply", "mutations": [{"labels": {way: texts}}]})
        for number, (way, texts) in enumerate(policies)
    ]
    made = apply_edits(pod, plan(pod, situation, sound).edits, "Pod")
    assert selects(made["metadata"]["labels"])
