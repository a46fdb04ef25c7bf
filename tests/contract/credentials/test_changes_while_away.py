"""What changes while the agent is away has the same consequence as what changes while it runs, and has it once."""

from pathlib import Path

import pytest
from nemutator_agent.credentials.pods.served_values import FOLDER
from nemutator_agent.credentials.signals.signalling import APART_S, SETTLE_S

from tests.contract.credentials.test_pod_files import made, passing
from tests.fakes.brokers import FRESH_S
from tests.fakes.pod_sockets import Node, call

DB = "secret/app/db"
HUP = {"on-rotate": "signal:HUP@web"}
RESTART = {"on-rotate": "restart"}


def rotated(node: Node) -> list[str]:
    return [grant.secret for grant in node.setup.grants.all if grant.operation == "rotate"]


async def looked_again(node: Node) -> None:
    """All that is followed was read again, and signals have had their time."""
    before = node.setup.calls["read"]
    await passing(node, lambda: node.setup.calls["read"] > before + 1)
    for _ in range(4):
        await node.setup.clock.advance(APART_S + SETTLE_S)


async def test_a_variable_that_changed_meanwhile_is_recorded_for_the_brain(tmp_path: Path) -> None:
    declared = RESTART | {"env.WORD": f"{DB}#password", "env.USER": f"{DB}#user"}
    first = made(tmp_path, "one")
    async with first.running():
        where = await first.publish("v1", declared=declared)
        assert (await call(where, "/v1/env"))[0] == 200
    assert rotated(first) == []
    second = made(tmp_path, "one")
    async with second.running():
        await second.publish("v1", declared=declared)
        await looked_again(second)
    assert rotated(second) == []
    third = made(tmp_path, "two")
    async with third.running():
        await third.publish("v1", declared=declared)
        await passing(third, lambda: rotated(third) == ["WORD"])
        await looked_again(third)
    assert rotated(third) == ["WORD"]


@pytest.mark.parametrize("asked", ["/v1/secret/word", "/v1/files"])
async def test_a_process_gets_one_signal_for_what_changed_meanwhile(
    tmp_path: Path, asked: str
) -> None:
    declared = HUP | {"secret.word": f"{DB}#password"}
    first = made(tmp_path, "one")
    folder = first.volume("v1") / "secrets"
    folder.mkdir()
    async with first.running():
        where = await first.publish("v1", declared=declared)
        assert (await call(where, asked))[0] == 200
    assert first.containers.sent == []
    second = made(tmp_path, "two")
    async with second.running():
        where = await second.publish("v1", declared=declared)
        await passing(second, lambda: len(second.containers.sent) == 1)
        await looked_again(second)
        assert (await call(where, asked))[0] == 200
        await second.setup.clock.advance(FRESH_S)
    assert len(second.containers.sent) == 1
    third = made(tmp_path, "two")
    async with third.running():
        await third.publish("v1", declared=declared)
        await looked_again(third)
    assert third.containers.sent == []
    assert (folder / "word").exists() is (asked == "/v1/files")


async def test_a_signal_that_a_kill_came_before_is_sent_by_the_next_run(tmp_path: Path) -> None:
    declared = HUP | {"secret.word": f"{DB}#password"}
    first = made(tmp_path, "one")
    folder = first.volume("v1") / "secrets"
    folder.mkdir()
    async with first.running():
        where = await first.publish("v1", declared=declared)
        assert (await call(where, "/v1/files"))[0] == 200
    second = made(tmp_path, "two")
    async with second.running():
        where = await second.publish("v1", declared=declared)
        # Its files are written; the clock stands still, so it waits for what may change together with it.
        assert (await call(where, "/v1/files"))[0] == 200
        assert (folder / "word").read_text() == "two"
    assert second.containers.sent == []
    third = made(tmp_path, "two")
    async with third.running():
        await third.publish("v1", declared=declared)
        await passing(third, lambda: len(third.containers.sent) == 1)
        await looked_again(third)
    assert len(third.containers.sent) == 1


async def test_nothing_is_kept_of_a_pod_that_has_nothing_done_or_has_ended(tmp_path: Path) -> None:
    node = made(tmp_path, "one")
    async with node.running():
        for volume, more in (("v1", {}), ("v2", HUP)):
            where = await node.publish(volume, declared=more | {"secret.word": f"{DB}#password"})
            assert (await call(where, "/v1/secret/word"))[0] == 200
        kept = tmp_path / FOLDER
        assert [file.name for file in kept.iterdir()] == ["v2.json"]
        await node.publisher.withdraw("v2")
        assert list(kept.iterdir()) == []
