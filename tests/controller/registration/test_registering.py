import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.readiness import Readiness
from nemutator_controller.kube.failures import (
    AlreadyExistsError,
    ForbiddenError,
    KubeError,
    UnavailableError,
)
from nemutator_controller.registration.certificates import (
    LEAF_S,
    Pair,
    is_authority,
    is_due,
    new_authority,
)
from nemutator_controller.registration.registering import (
    ADMISSION,
    AUTHORITY,
    PART,
    Registrar,
    Servers,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process

SERVERS = Servers(admission=["nemutator-admission.x.svc"], brain=["nemutator-brain.x.svc"])


class MemoryInstallation:
    def __init__(self) -> None:
        self.pairs: dict[str, Pair] = {}
        self.published: str | None = None
        self.configuration: dict[str, Any] | None = None
        self.patches: list[Sequence[Mapping[str, Any]]] = []
        self.patched: list[str] = []
        self.further: dict[str, dict[str, Any]] = {}
        self.forbidden: set[str] = set()
        self.broken: KubeError | None = None
        self.keys: bytes | None = None
        self.faster_key: bytes | None = None
        self.faster: Pair | None = None
        """The authority of another brain, which comes between our look and our write."""

    async def pair(self, name: str) -> Pair | None:
        if self.broken is not None:
            raise self.broken
        return self.pairs.get(name)

    async def save_pair(self, name: str, pair: Pair) -> None:
        if self.faster is not None and name == AUTHORITY:
            self.pairs[name], self.faster = self.faster, None
            raise AlreadyExistsError("create secrets", "it is there")
        self.pairs[name] = pair

    async def audit_keys(self) -> bytes | None:
        return self.keys

    async def make_audit_key(self) -> bytes:
        if self.faster_key is not None:
            self.keys = self.faster_key
        if self.keys is not None:
            raise AlreadyExistsError("create secrets", "it is there")
        self.keys = f"{id(self):064}".encode()
        return self.keys

    async def publish(self, authority: str) -> None:
        self.published = authority

    async def webhooks(self, name: str) -> Mapping[str, Any] | None:
        if name in self.forbidden:
            raise ForbiddenError("get mutatingwebhookconfigurations", "no right")
        return self.configuration if name == "nemutator" else self.further.get(name)

    async def patch_webhooks(self, name: str, operations: Sequence[Mapping[str, Any]]) -> None:
        self.patches.append(operations)
        self.patched.append(name)


class MemoryLeaf:
    def __init__(self) -> None:
        self.pair: Pair | None = None

    def read(self) -> Pair | None:
        return self.pair

    def write(self, pair: Pair) -> None:
        self.pair = pair


class Office:
    def __init__(self) -> None:
        self.installation, self.own = MemoryInstallation(), MemoryLeaf()
        self.clock, self.readiness = ManualClock(1_800_000_000.0), Readiness()
        self.registrar = self.again()

    def again(self) -> Registrar:
        """As after a restart."""
        return Registrar(
            self.installation,
            self.own,
            SERVERS,
            process=fake_process(clock=self.clock, readiness=self.readiness),
        )


async def test_from_nothing_everything_is_made_and_then_left_alone() -> None:
    office = Office()
    office.installation.configuration = {
        "webhooks": [{"name": "pods.nemutator.io", "clientConfig": {}}]
    }
    assert not office.registrar.has_leaf.is_set()
    await office.registrar.register()
    authority = office.installation.pairs[AUTHORITY]
    now = office.clock.now()
    assert is_authority(authority, now=now)
    assert not is_due(office.own.pair, authority, SERVERS.brain, now=now)
    leaf = office.installation.pairs[ADMISSION]
    assert not is_due(leaf, authority, SERVERS.admission, now=now)
    assert office.installation.published == authority.certificate
    assert len(office.installation.patches) == 1
    assert office.registrar.has_leaf.is_set()
    before = dict(office.installation.pairs)
    await office.again().register()
    assert {name: pair.certificate for name, pair in before.items()} == {
        name: pair.certificate for name, pair in office.installation.pairs.items()
    }


async def test_an_optional_configuration_trusts_us_too_and_one_that_is_not_ours_holds_nothing_up() -> (
    None
):
    office = Office()
    for name in ("there", "not-ours"):
        office.installation.further[name] = {
            "webhooks": [{"name": "nodes.nemutator.io", "clientConfig": {}}]
        }
    office.installation.forbidden.add("not-ours")
    registrar = office.again()
    registrar.optional_webhooks = ["not-ours", "absent", "there"]
    await registrar.register()
    assert office.installation.patched == ["there"]
    assert registrar.audit_keys


async def test_leaves_are_renewed_and_the_authority_stays() -> None:
    office = Office()
    await office.registrar.register()
    authority = office.installation.pairs[AUTHORITY]
    old = (office.own.pair, office.installation.pairs[ADMISSION])
    await office.clock.advance(LEAF_S * 0.7)
    await office.registrar.register()
    assert office.installation.pairs[AUTHORITY] is authority
    assert office.own.pair is not old[0]
    assert office.installation.pairs[ADMISSION] is not old[1]


async def test_when_another_brain_was_faster_its_authority_counts() -> None:
    office = Office()
    office.installation.faster = theirs = new_authority("nemutator", now=office.clock.now())
    await office.registrar.register()
    assert office.installation.published == theirs.certificate
    assert not is_due(office.own.pair, theirs, SERVERS.brain, now=office.clock.now())


async def test_a_brain_that_restarts_serves_with_what_it_has() -> None:
    office = Office()
    await office.registrar.register()
    office.installation.broken = UnavailableError("get secrets", "gone")
    again = office.again()
    assert again.has_leaf.is_set()
    with pytest.raises(UnavailableError):
        await again.register()


async def test_the_audit_key_is_made_once_and_is_another_in_each_installation() -> None:
    office, elsewhere = Office(), Office()
    for registrar in (office.registrar, elsewhere.registrar):
        await registrar.register()
    (key,) = office.registrar.audit_keys
    assert key.reveal().encode() == office.installation.keys
    assert key != elsewhere.registrar.audit_keys[0]
    again = office.again()
    await again.register()
    assert list(again.audit_keys) == [key]


async def test_when_another_brain_was_faster_its_audit_key_counts() -> None:
    office = Office()
    office.installation.faster_key = b"f" * 64
    for _ in range(2):
        await office.registrar.register()
    assert [key.reveal() for key in office.registrar.audit_keys] == ["f" * 64]


async def test_a_key_that_was_put_before_another_leaves_both_to_look_with() -> None:
    office = Office()
    await office.registrar.register()
    (old,) = office.registrar.audit_keys
    office.installation.keys = b"n" * 64 + b"\n" + old.reveal().encode()
    await office.registrar.register()
    assert [key.reveal() for key in office.registrar.audit_keys] == ["n" * 64, old.reveal()]


async def test_spoilt_audit_keys_are_named_and_neither_replaced_nor_forgotten() -> None:
    office = Office()
    await office.registrar.register()
    before = office.registrar.audit_keys
    office.installation.keys = b"too short"
    with pytest.raises(OperatorError, match="audit keys") as refused:
        await office.registrar.register()
    assert "too short" not in str(refused.value)
    assert office.installation.keys == b"too short"
    assert office.registrar.audit_keys == before


async def test_it_goes_on_after_failures_and_says_how_it_stands() -> None:
    office = Office()
    office.installation.broken = UnavailableError("get secrets", "gone")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(office.registrar.run())
        await office.clock.until_sleeping()
        assert "gone" in office.readiness.problems()[PART]
        office.installation.broken = None
        await office.clock.advance(1)
        await office.clock.until_sleeping()
        assert PART not in office.readiness.problems()
        task.cancel()
