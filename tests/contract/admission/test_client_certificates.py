"""Who may call the webhook, over real TLS on both event loops."""

import asyncio
import contextlib
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp
import msgspec
import pytest
from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.system_clock import SystemClock
from nemutator_controller.app.webhook import webhook_listener
from nemutator_controller.settings.admission import AdmissionSettings

from tests.certificates import Authority, Leaf
from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.listeners import EVENT_LOOPS, PATIENCE_S
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

TEAM = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]}
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}
QUESTION = msgspec.json.encode(review(POD))
SERVER, CLIENTS = Authority("the brain's own"), Authority("clients")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return EVENT_LOOPS


@dataclass
class Called:
    port: int
    folder: Path
    meter: MemoryMeter
    records: MemoryRecords = field(default_factory=MemoryRecords)

    async def answer(self, shown: Leaf, path: str = "/mutate") -> tuple[int, dict[str, object]]:
        context = ssl.create_default_context(cadata=SERVER.certificate)
        (self.folder / "shown.pem").write_text(shown.both)
        context.load_cert_chain(self.folder / "shown.pem")
        async with (
            asyncio.timeout(PATIENCE_S),
            aiohttp.ClientSession() as session,
            session.post(
                f"https://127.0.0.1:{self.port}{path}", data=QUESTION, ssl=context
            ) as answer,
        ):
            return answer.status, json.loads(await answer.read())


def settings_in(folder: Path) -> AdmissionSettings:
    leaf = SERVER.server("127.0.0.1")
    (folder / "tls.crt").write_text(leaf.certificate)
    (folder / "tls.key").write_text(leaf.key)
    (folder / "clients.crt").write_text(CLIENTS.certificate)
    return AdmissionSettings(
        address="127.0.0.1:0",
        tls_certificate=folder / "tls.crt",
        tls_key=folder / "tls.key",
        client_ca=str(folder / "clients.crt"),
    )


@contextlib.asynccontextmanager
async def serving(folder: Path, *, client_names: str) -> AsyncIterator[Called]:
    meter, records = MemoryMeter(), MemoryRecords()
    server = webhook_listener(
        replace(settings_in(folder), client_names=client_names),
        MemoryWorld(team=TEAM),
        records,
        fake_process(clock=SystemClock(), meter=meter),
    )
    await server.bind()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(server.run())
        yield Called(getattr(server.address, "port", 0), folder, meter, records)
        running.cancel()


@pytest.mark.parametrize(
    ("client_names", "shown"),
    [
        ("", CLIENTS.client("anything")),
        ("other, front-proxy-client", CLIENTS.client("front-proxy-client")),
        ("apiserver.example.org", CLIENTS.client("x", alternatives=["apiserver.example.org"])),
        ("192.0.2.1", CLIENTS.client("x", alternatives=["192.0.2.1"])),
    ],
    ids=["all", "common name", "DNS name", "address"],
)
async def test_a_caller_that_is_named_is_answered(
    tmp_path: Path, client_names: str, shown: Leaf
) -> None:
    async with serving(tmp_path, client_names=client_names) as webhook:
        status, answer = await webhook.answer(shown)
        assert (status, answer["kind"]) == (200, "AdmissionReview")
        assert len(webhook.records.kept) == 1


@pytest.mark.parametrize("path", ["/mutate", "/mutate/namespaces"])
async def test_another_certificate_of_the_authority_has_nothing_decided_or_recorded(
    tmp_path: Path, path: str
) -> None:
    async with serving(tmp_path, client_names="front-proxy-client") as webhook:
        kubelet = CLIENTS.client("system:node:n1", ["front-proxy-client"])
        status, answer = await webhook.answer(kubelet, path)
        assert status == 403
        assert "is for system:node:n1" in str(answer["error"])
        assert webhook.meter.value(names.ADMISSION_FAILURES, reason="client") == 1
        assert webhook.meter.total(names.ADMISSIONS) == 0
        assert webhook.records.kept == []


async def test_the_name_alone_is_no_proof(tmp_path: Path) -> None:
    async with serving(tmp_path, client_names="front-proxy-client") as webhook:
        with pytest.raises(aiohttp.ClientError):
            await webhook.answer(Authority("a stranger").client("front-proxy-client"))
        assert webhook.records.kept == []


def test_without_an_authority_readiness_and_log_say_that_anybody_is_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    process = fake_process()
    settings = replace(settings_in(tmp_path), client_ca="")
    with caplog.at_level(logging.WARNING):
        webhook_listener(settings, MemoryWorld(), MemoryRecords(), process)
    assert "admission.client_ca" in process.readiness.notes()["webhook"]
    assert process.readiness.problems() == {}
    assert [record.message for record in caplog.records] == ["any_caller_is_answered"]


def test_names_without_an_authority_are_a_mistake_in_the_settings(tmp_path: Path) -> None:
    settings = replace(settings_in(tmp_path), client_ca="", client_names="front-proxy-client")
    with pytest.raises(OperatorError, match="client_names is set") as refused:
        webhook_listener(settings, MemoryWorld(), MemoryRecords(), fake_process())
    assert refused.value.code is ExitCode.SETTINGS
