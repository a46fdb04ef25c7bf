"""Policies before a real API server: what it takes is what we take, and what is wrong is said."""

import asyncio
import json
from collections.abc import Callable, Iterator
from http.client import HTTPSConnection
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.model import PolicyError, policy_of
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.status_writer import PolicyStatusWriter

from tests.e2e.testbed.policy_specs import BAD, specs
from tests.e2e.testbed.webhook import asked, asking, define, policy
from tests.fakes.kube.configurations import Fixed
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.running.waiting import until

Json = dict[str, Any]
POLICIES = "/apis/nemutator.io/v1alpha1/mutationpolicies"
OLD = policy("broken", "x", {"labels": {"set": {"team": "not a value!"}}})
"""Of a time when the definition asked for less."""


@pytest.fixture(scope="module")
def server(cluster: Cluster) -> Iterator[HTTPSConnection]:
    """The API server with our definition of policies, and one policy that is older than that."""
    define(cluster, strict=False)
    until(lambda: _created(cluster, OLD), "the loose definition is served", within_s=60)
    define(cluster)
    with asking(cluster) as connection:

        def strict() -> bool:
            again = OLD | {"metadata": {"name": "again"}}
            return asked(connection, cluster, POLICIES, again)[0] == 422

        until(strict, "the strict definition is served", within_s=60)
        yield connection
    cluster.kubectl("delete", "mutationpolicies", "--all")


def test_what_cannot_work_is_refused_in_words_that_help(
    cluster: Cluster, server: HTTPSConnection
) -> None:
    for what, (mutations, why) in BAD.items():
        status, answer, _ = asked(server, cluster, POLICIES, policy("bad", "x", *mutations))
        assert status in (400, 422), what
        assert why in answer["message"], what


def test_the_api_server_takes_what_we_take_and_nothing_else(
    cluster: Cluster, server: HTTPSConnection
) -> None:
    differ: list[str] = []
    taken = 0
    for spec in specs():
        status, answer, _ = asked(server, cluster, POLICIES, policy("p", "x") | {"spec": spec})
        assert status in (201, 400, 422), answer
        try:
            policy_of("p", spec)
            fault = ""
        except PolicyError as error:
            fault = str(error)
        taken += status == 201
        if (status == 201) != (fault == ""):
            differ.append(f"{json.dumps(spec)[:300]}: we {fault!r}, it {answer.get('message')!r}")
    assert differ == []
    assert taken > 50


async def test_a_fault_is_said_where_the_person_looks(
    cluster: Cluster, server: HTTPSConnection
) -> None:
    whole = policy("whole", "x", {"labels": {"set": {"team": "a"}}})
    cluster.apply(whole)
    clock, meter = SystemClock(), MemoryMeter()
    access = Access(
        server=cluster.url, ca=cluster.ca_file.read_text(), token=Secret(cluster.admin_token)
    )
    async with HttpTransport(Fixed(access), meter) as transport:
        writer = Writer(transport, WriteBudget(clock), clock)
        process = fake_process(clock=clock, meter=meter)
        informer = Informer(MUTATION_POLICIES, transport=transport, process=process)
        telling = PolicyStatusWriter(informer, writer, process=process)
        async with asyncio.TaskGroup() as group:
            runs = informer.run, telling.follow, telling.write
            tasks = [group.create_task(run()) for run in runs]
            await _until(lambda: _told(cluster), "both are told")
            # What is said is said once, whatever else is done to a policy.
            before = _conditions(cluster)
            await asyncio.to_thread(
                cluster.kubectl, "annotate", "mutationpolicies", "--all", "seen=yes"
            )
            # A new one of the same name comes after that in the same watch, and is told again.
            await asyncio.to_thread(cluster.kubectl, "delete", "mutationpolicy", "whole")
            await asyncio.to_thread(cluster.apply, whole)
            await _until(lambda: _told(cluster), "the new one is told")
            assert _conditions(cluster)["broken"] == before["broken"]
            # The server shows a status before its answer has reached us.
            await _until(lambda: _written(meter) >= 3, "the last answer is here")
            for task in tasks:
                task.cancel()
    assert _written(meter) == 3
    said = cluster.kubectl("get", "mutationpolicies", "broken")
    assert "False" in said
    assert "spec.mutations[0].labels.set[team]: expected a label's key and value" in said


def _created(cluster: Cluster, manifest: Json) -> bool:
    try:
        cluster.apply(manifest)
    except KubectlError:
        return False
    return True


async def _until(true: Callable[[], bool], what: str) -> None:
    await asyncio.to_thread(until, true, what, within_s=60)


def _written(meter: MemoryMeter) -> float:
    return meter.value(names.POLICY_STATUSES, result="written")


def _conditions(cluster: Cluster) -> dict[str, Json]:
    """By name of the policy, without what there is none of yet."""
    found = cluster.get("mutationpolicies")["items"]
    return {
        each["metadata"]["name"]: condition
        for each in found
        for condition in each.get("status", {}).get("conditions", [])
    }


def _told(cluster: Cluster) -> bool:
    conditions = _conditions(cluster)
    return {name: each["status"] for name, each in conditions.items()} == {
        "broken": "False",
        "whole": "True",
    }
