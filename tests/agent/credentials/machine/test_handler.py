from collections.abc import Mapping

import pytest
from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.machine.handler import MachineHandler
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.stored_secrets import StoredSecret, StoredSecretError
from nemutator_agent.identity.rules import CallerRule
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.file_folders import MemoryFolder
from tests.fakes.peers import Caller, RecordedGrants
from tests.fakes.process import fake_process

GROUPS = "0::/system.slice/app.service\n"


class Disk:
    def __init__(self) -> None:
        self.saved: Mapping[str, StoredSecret] = {}
        self.full = False

    async def save(self, secrets: Mapping[str, StoredSecret]) -> None:
        if self.full:
            raise OperatorError("full", remedy="make room", code=ExitCode.DATA_DIRECTORY)
        self.saved = secrets


class Machine:
    def __init__(self, *, rate: float = 100) -> None:
        self.clock = ManualClock()
        self.disk = Disk()
        self.grants = RecordedGrants()
        process = fake_process(clock=self.clock)
        self.store = SecretStore({}, self.disk.save, MemoryFolder(), process)
        self.handler = MachineHandler(
            self.store,
            process,
            audit=Audit(self.grants, self.clock, node="n1", key=Secret("k")),
            node="n1",
            rate=rate,
        )

    async def set(self, name: str, value: str, *rules: CallerRule) -> StoredSecret:
        return await self.store.set(name, Secret(value), rules=rules, owner=1000)


def caller(uid: int = 1000) -> Caller:
    return Caller(GROUPS, uid=uid)


async def test_who_set_a_secret_gets_it_and_others_do_not() -> None:
    machine = Machine()
    await machine.set("db", "hunter2")
    answer = await machine.handler.admit(caller()).secret("db")
    assert (answer.value.reveal(), answer.version, answer.is_whole) == ("hunter2", 1, False)
    with pytest.raises(HttpRefusal) as raised:
        await machine.handler.admit(caller(0)).secret("db")
    assert (raised.value.status, raised.value.step) == (403, "rule")
    assert "nemutator secret set" in raised.value.remedy
    assert machine.grants.of("read") == ["granted", "denied"]
    assert machine.grants.all[0].caller == "uid 1000 /usr/bin/app"


async def test_a_rule_may_name_a_program_or_a_group() -> None:
    machine = Machine()
    await machine.set("a", "x", CallerRule(executable="/usr/bin/app"))
    await machine.set("b", "x", CallerRule(cgroup="/system.slice/app.service"))
    await machine.set("c", "x", CallerRule(uid=7))
    admitted = machine.handler.admit(caller())
    assert admitted.declared() == {"secrets": ["a", "b"], "environment": []}
    assert await admitted.environment() == {}


async def test_an_unknown_name_shows_those_that_the_caller_may_have_and_no_others() -> None:
    machine = Machine()
    await machine.set("mine", "x")
    await machine.set("theirs", "x", CallerRule(uid=7))
    with pytest.raises(HttpRefusal) as raised:
        await machine.handler.admit(caller()).secret("nope")
    assert raised.value.status == 404
    assert "declared are: mine." in raised.value.remedy
    (record,) = machine.grants.all
    assert (record.result, record.secret, record.reason) == ("denied", "nope", "declaration")


async def test_a_caller_learns_what_the_kernel_says_of_it() -> None:
    assert Machine().handler.admit(caller()).whoami() == {
        "uid": 1000,
        "executable": "/usr/bin/app",
        "cgroup": "/system.slice/app.service",
        "node": "n1",
    }


async def test_a_caller_hears_of_the_secrets_that_it_may_have() -> None:
    machine = Machine()
    await machine.set("mine", "x")
    await machine.set("theirs", "x", CallerRule(uid=7))
    admitted = machine.handler.admit(caller())
    assert [admitted.may_watch(name) for name in ("mine", "theirs", "nope")] == [True, False, False]
    assert [change.name for change in machine.handler.changes.log.after(0)] == ["mine", "theirs"]


async def test_one_user_cannot_use_up_what_others_may_ask() -> None:
    machine = Machine(rate=1)
    for _ in range(2):
        machine.handler.admit(caller())
    with pytest.raises(HttpRefusal) as raised:
        machine.handler.admit(caller())
    assert raised.value.status == 429
    machine.handler.admit(caller(7))


async def test_a_caller_that_cannot_be_known_is_refused() -> None:
    machine, ghost = Machine(), caller()
    ghost.refused = "pidfd"
    with pytest.raises(HttpRefusal) as raised:
        machine.handler.admit(ghost)
    assert (raised.value.status, raised.value.step) == (403, "pidfd")
    assert machine.grants.of("connect") == ["denied"]


async def test_what_was_not_saved_has_not_changed() -> None:
    machine = Machine()
    await machine.set("db", "first")
    machine.disk.full = True
    with pytest.raises(OperatorError):
        await machine.set("db", "second")
    with pytest.raises(StoredSecretError):
        await machine.set("../db", "x")
    answer = await machine.handler.admit(caller()).secret("db")
    assert (answer.value.reveal(), answer.version) == ("first", 1)
    assert machine.disk.saved["db"].version == 1
