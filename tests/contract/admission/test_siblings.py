"""Several processes on one port: each is asked by some callers, and all know what one of them has done."""

import asyncio
import base64
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path

import aiohttp
import msgspec
import pytest
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_common.system_clock import SystemClock
from nemutator_controller.admission.siblings import LONGEST, SUFFIX, Siblings
from nemutator_controller.app.webhook import webhook_listener
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.settings.admission import AdmissionSettings

from tests.certificates import Authority
from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.clocks import ManualClock
from tests.fakes.listeners import EVENT_LOOPS, PATIENCE_S
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

SERVER = Authority("the brain's own")
HALF = {"mode": "Apply", "mutations": [{"resources": {"requests": {"cpu": {"ratio": 0.5}}}}]}
POD = {
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
}


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return EVENT_LOOPS


def siblings(folder: Path, meter: MemoryMeter | None = None) -> Siblings:
    return Siblings(folder / "siblings", fake_process(clock=ManualClock(), meter=meter))


def test_what_one_tells_all_others_hear_in_its_order(tmp_path: Path) -> None:
    one, two, three = (siblings(tmp_path) for _ in range(3))
    for message in (b"a", b"b"):
        one.tell(message)
    assert list(two.heard()) == list(three.heard()) == [b"a", b"b"]
    assert list(one.heard()) == list(two.heard()) == []
    late = siblings(tmp_path)
    one.tell(b"c")
    assert list(late.heard()) == [b"c"]
    for each in (one, two, three, late):
        each.close()
    assert list((tmp_path / "siblings").iterdir()) == []


async def test_many_are_heard_although_the_kernel_holds_few(tmp_path: Path) -> None:
    meter = MemoryMeter()
    one, two = siblings(tmp_path, meter), siblings(tmp_path)
    with contextlib.closing(one), contextlib.closing(two):
        two.attend()
        for number in range(300):
            one.tell(b"%d" % number)
            # As after each request: nobody asks the other one meanwhile.
            await asyncio.sleep(0)
        assert list(two.heard()) == [b"%d" % number for number in range(300)]
    assert meter.value(names.STAMPS_NOT_TOLD, reason="full") == 0


def test_who_was_killed_is_told_nothing_more_and_its_name_goes(tmp_path: Path) -> None:
    one = siblings(tmp_path)
    killed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    killed.bind(str(tmp_path / "siblings" / f"gone{SUFFIX}"))
    killed.close()
    one.tell(b"a")
    assert len(list((tmp_path / "siblings").iterdir())) == 1
    one.close()


def test_who_does_not_listen_holds_up_nobody_and_what_is_lost_is_counted(tmp_path: Path) -> None:
    meter = MemoryMeter()
    one, deaf = siblings(tmp_path, meter), siblings(tmp_path)
    for _ in range(5_000):
        one.tell(b"x" * 2048)
    assert meter.value(names.STAMPS_NOT_TOLD, reason="full") > 0
    assert list(deaf.heard())
    one.tell(b"x" * (LONGEST + 1))
    assert meter.value(names.STAMPS_NOT_TOLD, reason="too_large") == 1
    one.close()
    deaf.close()


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    for where in (tmp_path / ("x" * 150), tmp_path / "file" / "in"):
        (tmp_path / "file").write_text("")
        with pytest.raises(OperatorError, match="cannot use"):
            Siblings(where, fake_process())


class Processes:
    """Two that share a port, each with its own records."""

    def __init__(self, folder: Path) -> None:
        leaf = SERVER.server("127.0.0.1")
        (folder / "tls.crt").write_text(leaf.certificate)
        (folder / "tls.key").write_text(leaf.key)
        self.folder = folder
        self.port = 0
        self.records = [MemoryRecords() for _ in range(2)]

    @contextlib.asynccontextmanager
    async def standing(self) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            group = await stack.enter_async_context(asyncio.TaskGroup())
            running: list[asyncio.Task[None]] = []
            for records in self.records:
                process = fake_process(clock=SystemClock(), meter=MemoryMeter())
                link = stack.enter_context(
                    contextlib.closing(Siblings(self.folder / "siblings", process))
                )
                # As the process does: who is not asked for a while would miss what the kernel has no room for.
                link.attend()
                settings = AdmissionSettings(
                    address=f"127.0.0.1:{self.port}",
                    tls_certificate=self.folder / "tls.crt",
                    tls_key=self.folder / "tls.key",
                )
                server = webhook_listener(settings, MemoryWorld(half=HALF), records, process, link)
                server.limits = replace(server.limits, linger_s=0.1, drain_s=0.1)
                await server.bind()
                self.port = int(str(server.address).rpartition(":")[2])
                running.append(group.create_task(server.run()))
            yield
            for each in running:
                each.cancel()

    async def asked(self, pod: object) -> list[dict[str, object]]:
        """The patch that a caller with a connection of its own gets."""
        context = ssl.create_default_context(cadata=SERVER.certificate)
        async with (
            asyncio.timeout(PATIENCE_S),
            aiohttp.ClientSession() as session,
            session.post(
                f"https://127.0.0.1:{self.port}/mutate",
                data=msgspec.json.encode(review(pod)),
                ssl=context,
            ) as answer,
        ):
            found = msgspec.json.decode(await answer.read())["response"].get("patch")
            return msgspec.json.decode(base64.b64decode(found)) if found else []


async def test_a_share_is_taken_once_whichever_process_is_asked_again(tmp_path: Path) -> None:
    both = Processes(tmp_path)
    async with both.standing():
        # The kernel chooses by the caller's port: after so many each of them has been chosen.
        for number in range(200):
            pod = msgspec.json.decode(msgspec.json.encode(POD))
            pod["metadata"]["name"] = f"web-{number}"
            made = apply_patch(pod, await both.asked(pod))
            cpu = made["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            assert cpu == "500m"
            # Another webhook strips our annotation, and the API server asks again, wherever it comes out.
            del made["metadata"]["annotations"]
            again = apply_patch(made, await both.asked(made))
            assert again["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "500m"
            assert names.MUTATION in again["metadata"]["annotations"]
            if number >= 20 and all(each.kept for each in both.records):
                break
    assert all(each.kept for each in both.records)
