"""From the flows that agents tell of to the affinity that admission adds: nobody is asked while a pod waits."""

import re
from dataclasses import replace
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common import names
from nemutator_common.admission_snapshots import MOST_TALKERS, TALKERS_PATH
from nemutator_controller.admission.snapshots import SnapshotError, talkers_from
from nemutator_controller.mutations.advisor import WorkloadRef
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.talkers import NO_TALKERS, Talkers
from nemutator_controller.placement.endpoint import TalkersApi
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_controller.placement.telling import ROUND_S, TalkerTelling
from nemutator_controller.policies.model import policy_from_document
from nemutator_controller.policies.plans import Situation, plan

from tests.controller.placement.nodes import WEB
from tests.controller.placement.test_talker_grades import BASE, CACHE, talks
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.house.tree import REPOSITORY

TEXT = (REPOSITORY / "docs" / "placement.md").read_text()
POLICY, TERMS = (
    yaml.safe_load(each)
    for each in re.findall(r"<!-- talkers -->\n+```yaml\n(.*?)```", TEXT, re.DOTALL)
)
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Talks:
    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.rates = {CACHE: 1e6, BASE: 6e5}

    def has_flows(self) -> bool:
        return True

    def node_of(self, uid: str) -> str | None:
        return ""

    async def take(self) -> NodesSnapshot | None:
        return talks(self.rates, taken_at=self.clock.now())


def client(telling: TalkerTelling | None) -> TestClient[Any, Any]:
    app = web.Application()
    app.add_routes([route.route for route in TalkersApi(telling).routes()])
    return TestClient(TestServer(app))


def planned(talkers: Talkers, **affinity: Any) -> Any:
    subject = Subject(
        api_version="v1",
        kind="Pod",
        namespace=WEB[0],
        name="web-5d6-x",
        owner_kind=WEB[1],
        owner_name=WEB[2],
    )
    pod = {
        "metadata": {"name": "web-5d6-x", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "a"}], "affinity": affinity},
    }
    situation = Situation(subject=subject, namespace_labels={}, talkers=talkers)
    edits = plan(pod, situation, [policy_from_document(POLICY)]).edits
    after: Any = apply_edits(pod, edits, "Pod")
    return after["spec"]["affinity"]


async def test_pods_prefer_nodes_with_those_that_their_workload_talks_to() -> None:
    clock, meter = ManualClock(), MemoryMeter()
    process = fake_process(clock=clock, meter=meter)
    source = Talks(clock)
    telling = TalkerTelling(KeptNodesSnapshot(source, process), process)
    async with client(telling) as admission, in_background(telling.run(), clock):
        first = await admission.get(TALKERS_PATH)
        assert await first.json() == {"items": []}
        await clock.advance(ROUND_S)
        following = await admission.get(TALKERS_PATH)
        known = {"If-None-Match": following.headers["ETag"]}
        talkers = talkers_from(await following.read())
        assert planned(talkers) == TERMS
        # What wavers is the same document, and no plan is made anew.
        source.rates[BASE] = 5.6e5
        await clock.advance(2 * ROUND_S)
        assert (await admission.get(TALKERS_PATH, headers=known)).status == 304
    assert meter.value(names.TALKING_WORKLOADS, state="told") == 1
    # After another webhook it comes again, when who talks how much is another thing: each stands once.
    [several] = talkers.by_workload.values()
    quieter = Talkers({WorkloadRef(*WEB): (replace(several[0], share=0.5), *several[1:])})
    assert planned(quieter, **TERMS) == TERMS
    assert planned(NO_TALKERS) == {}


async def test_of_several_brains_none_knows_who_talks_to_whom() -> None:
    async with client(None) as admission:
        answer = await admission.get(TALKERS_PATH)
        assert talkers_from(await answer.read()).by_workload == {}


PEER = '{"namespace":"n","labels":{"a":"b"},"quarters":%s}'


@pytest.mark.parametrize(
    "document",
    [b"", b"[]", b'{"items":[{}]}', b'{"items":[{"namespace":1}]}', b"\xff", b'{"items":' * 5_000],
)
def test_what_is_no_such_list_leaves_the_one_before(document: bytes) -> None:
    with pytest.raises(SnapshotError):
        talkers_from(document)


def test_more_than_a_brain_tells_of_one_is_not_taken_and_no_weight_is_too_large() -> None:
    peers = ",".join(PEER % number for number in (-7, 9_000, *range(1, 9)))
    document = f'{{"items":[{{"namespace":"n","owner_kind":"k","owner":"o","peers":[{peers}]}}]}}'
    [found] = talkers_from(document.encode()).by_workload.values()
    assert len(found) == MOST_TALKERS
    assert [one.share for one in found] == [0.25, 1.0, 0.25, 0.5]
