import asyncio
import json
from typing import Any

import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.refused_callers import RefusedCallers
from nemutator_agent.credentials.vault_api.answering import MOST_LEASES, PodVaultApi
from nemutator_agent.credentials.vault_api.api_answer import ApiAnswer
from nemutator_agent.credentials.vault_api.api_request import SentRequest
from nemutator_common import names

from tests.fakes.brokers import BrokerSetup
from tests.fakes.vault_states import Engine

PATH = "secret/data/db"


class Turns:
    """Callers wait until they are let on."""

    def __init__(self) -> None:
        self.asked = 0
        self.came = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def wait(self) -> None:
        self.asked += 1
        self.came.set()
        await self.open.wait()


class Pod:
    def __init__(self) -> None:
        self.setup = BrokerSetup()
        self.turns = Turns()
        self.state = self.setup.vault.state
        self.state.write("secret/db", {"word": "x"})
        self.state.engines["database/"] = Engine(None)
        self.setup.allow("secret/db", "database/creds/shop")
        process = self.setup.process
        self.api = PodVaultApi(
            self.setup.session(),
            self.setup.broker,
            process,
            audit=self.setup.audit,
            refused=RefusedCallers(process, self.setup.audit),
            auth_mount="kubernetes",
            namespace="",
        )

    async def ask(self, path: str, method: str = "GET", **body: Any) -> ApiAnswer:
        content = json.dumps(body).encode() if body else b""
        sent = SentRequest(method=method, target=f"/v1/{path}", headers={}, body=content)
        return await self.api.answer(sent, self.turns.wait)


@pytest.fixture
def pod() -> Pod:
    return Pod()


async def test_what_memory_has_waits_for_nobody(pod: Pod) -> None:
    async with pod.setup.running():
        await pod.ask(PATH)
        pod.setup.vault.open.clear()
        assert (await pod.ask(PATH)).status == 200
        await pod.ask(f"sys/internal/ui/mounts/{PATH}")
        assert pod.turns.asked == 0


async def test_vault_is_asked_when_it_is_the_callers_turn(pod: Pod) -> None:
    async with pod.setup.running():
        pod.turns.open.clear()
        asking = asyncio.get_running_loop().create_task(pod.ask(PATH, "POST", data={"word": "y"}))
        await pod.turns.came.wait()
        assert pod.setup.calls.get("read", 0) == 0
        pod.turns.open.set()
        assert (await asking).status == 200
    assert pod.setup.grants.of("write") == ["granted"]


async def test_the_last_leases_of_a_pod_are_known_as_its_own(pod: Pod) -> None:
    answers = pod.state.engines["database/"].answers
    async with pod.setup.running():
        for number in range(MOST_LEASES + 1):
            answers["creds/shop"] = {"lease_id": f"database/{number}", "data": {}}
            await pod.ask("database/creds/shop")
        renewed = await pod.ask("sys/leases/renew", "PUT", lease_id=f"database/{MOST_LEASES}")
        assert renewed.status == 200
        with pytest.raises(HttpRefusal, match="no lease of this pod"):
            await pod.ask("sys/leases/renew", "PUT", lease_id="database/0")


async def test_a_mount_of_vaults_own_is_not_asked_although_its_path_looks_like_another(
    pod: Pod,
) -> None:
    """As in a namespace: `team-b/auth/token/create` begins with a name that is free."""
    pod.state.engines["team-b/auth/token/"] = Engine(None, answers={"create": {"data": {}}})
    pod.setup.allow("team-b/auth/token/create")
    async with pod.setup.running():
        with pytest.raises(HttpRefusal) as refused:
            await pod.ask("team-b/auth/token/create", "POST", policies=["root"])
    assert refused.value.step == "allow list"
    assert pod.setup.grants.of("write") == ["denied"]
    assert pod.setup.meter.value(names.CREDENTIAL_REFUSALS, step="allow list") == 1


async def test_those_who_first_read_what_is_lent_at_the_same_time_get_the_same(pod: Pod) -> None:
    path = "database/creds/shop"
    pod.state.lease_s[path] = 90
    session = pod.setup.session()
    async with pod.setup.running(), asyncio.TaskGroup() as tasks:
        await pod.setup.broker.mount(session, path)
        pod.setup.vault.open.clear()
        asking = [tasks.create_task(pod.ask(path)) for _ in range(3)]
        native = tasks.create_task(pod.setup.broker.read(session, path))
        await pod.setup.clock.advance(0)
        assert pod.turns.asked == 3
        pod.setup.vault.open.set()
        users = {json.loads((await one).body().reveal())["data"]["username"] for one in asking}
        value = (await native).document.value("username")
        assert value is not None
        assert users == {value.reveal()}
        (lease,) = pod.state.leases
        assert session.leased[path].lease_id == lease


async def test_a_lease_that_its_pod_ends_while_it_is_renewed_is_not_replaced(pod: Pod) -> None:
    path = "database/creds/shop"
    pod.state.lease_s[path] = 90
    session = pod.setup.session()
    async with pod.setup.running():
        await pod.ask(path)
        (lease,) = pod.state.leases
        pod.setup.vault.open.clear()
        await pod.setup.clock.advance(70)
        session.release(lease)
        pod.state.leases.clear()
        pod.setup.vault.open.set()
        await pod.setup.clock.advance(10)
        assert pod.state.leases == {}
    assert pod.setup.grants.of("lease") == []
