"""Spans reach a collector that decodes them, with the trace of who asked; and nothing secret is in them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_agent.credentials.vault.calls import VaultCalls
from nemutator_agent.credentials.vault.failures import LoginRefusedError
from nemutator_common import names
from nemutator_common.addresses import TcpAddress, parse_address
from nemutator_common.errors import OperatorError
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.serving.otlp_traces import MOST_WAITING, OtlpTracer
from nemutator_common.serving.server import HttpServer
from nemutator_common.traces import TraceParent
from nemutator_controller.admission.endpoint import PATH, Webhook
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.injection import Injector

from tests.agent.profiler.test_sessions import REQUEST, Agent
from tests.controller.admission.test_review_texts import sent
from tests.controller.admission.test_webhook_handler import TEAM
from tests.controller.updating.test_resizing import Resizes
from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.trace_collector import TraceCollector, collecting
from tests.fakes.vaults import MemoryVault

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
PATIENCE_S = 60.0


@pytest.fixture
async def collector() -> AsyncIterator[TraceCollector]:
    async with collecting() as running:
        yield running


@contextlib.asynccontextmanager
async def traced(url: str, role: str = "admission") -> AsyncIterator[Process]:
    """A process whose spans go to the collector at *url*; all that were opened are there at the end."""
    meter = MemoryMeter()
    tracer = OtlpTracer(url, role=role, meter=meter)
    task = asyncio.get_running_loop().create_task(tracer.run())
    try:
        yield fake_process(clock=ManualClock(), meter=meter, tracer=tracer)
    finally:
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_decision_continues_the_trace_of_the_api_server_and_stands_in_its_record(
    collector: TraceCollector,
) -> None:
    async with traced(collector.url) as process:
        records = MemoryRecords()
        ids = iter(range(100))
        handler = WebhookHandler(
            MemoryWorld(team=TEAM),
            records,
            Rules(own_namespace="nemutator", injector=Injector("agent:1"), strict=False),
            fresh=lambda: f"d{next(ids)}",
            process=process,
        )
        webhook = Webhook(handler, process)
        server = HttpServer(
            process=process,
            name="webhook",
            address=parse_address("127.0.0.1:0"),
            routes=webhook.routes(),
            posts=webhook.at_once,
        )
        with contextlib.closing(server):
            await server.bind()
            running = asyncio.get_running_loop().create_task(server.run())
            for parent in (PARENT, PARENT, PARENT, f"00-{TRACE}-{SPAN}-00"):
                assert (await posted(server, sent(), parent)).startswith(b"HTTP/1.1 200")
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
    # Of the last one nobody follows the trace: the one who began it says so.
    assert [each["trace"] for each in records.kept] == [TRACE] * 3 + [""]
    assert [(each.trace, each.parent) for each in collector.spans] == [(TRACE, SPAN)] * 3
    (first, *_) = collector.spans
    assert (first.service, first.name) == ("nemutator-admission", "decision")
    assert first.attributes == {
        "nemutator.result": "patched",
        "nemutator.namespace": "default",
        "nemutator.kind": "pods",
        "nemutator.decision": "d0",
    }


async def posted(server: HttpServer, body: bytes, parent: str) -> bytes:
    assert isinstance(server.address, TcpAddress)
    reader, writer = await asyncio.open_connection(server.address.host, server.address.port)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nTraceparent: {parent}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_call_of_vault_is_a_span_without_path_role_or_token(
    collector: TraceCollector,
) -> None:
    async with traced(collector.url, "credentials") as process:
        vault = MemoryVault()
        vault.state.role("app", "jwt-of-app", ["secret/hidden"])
        vault.state.write("secret/hidden", {"a": "VALUE"})
        made = VaultCalls(vault, deadline_s=10.0, process=process)
        token = (await made.login("app", Secret("jwt-of-app"))).token
        mount = await made.mount_of(token, "secret/hidden")
        await made.read(token, mount, "secret/hidden")
        with pytest.raises(LoginRefusedError):
            await made.login("nobody", Secret("jwt-of-app"))
    said = [
        (each.attributes["nemutator.operation"], each.attributes["nemutator.result"])
        for each in collector.spans
    ]
    assert said == [("login", "done"), ("mount", "done"), ("read", "done"), ("login", "login")]
    assert {each.name for each in collector.spans} == {"vault"}
    assert sum(each.events for each in collector.spans) == 0
    for secret in (b"hidden", b"VALUE", b"jwt-of-app", token.reveal().encode()):
        assert secret not in collector.raw


async def test_a_profile_is_a_span_from_the_request_to_its_outcome(
    collector: TraceCollector,
) -> None:
    async with traced(collector.url, "observe") as process:
        agent = Agent(tracer=process.tracer)
        await agent.outcome(REQUEST, after_s=10)
    (span,) = collector.spans
    assert (span.name, span.attributes["nemutator.state"]) == ("profile", "done")
    assert span.attributes["nemutator.profile"] == REQUEST.id


async def test_a_resize_is_a_span_whose_trace_its_record_has(collector: TraceCollector) -> None:
    async with traced(collector.url, "brain") as process:
        one = Resizes(tracer=process.tracer)
        await one.engine.check()
    (span,) = collector.spans
    (decision,) = one.journal.decisions
    assert decision.trace == span.trace
    assert span.attributes == {
        "nemutator.namespace": decision.subject.namespace,
        "nemutator.pod": decision.subject.name,
        "nemutator.decision": decision.id,
        "nemutator.result": "given",
    }


async def test_a_span_within_a_span_is_a_part_of_it(collector: TraceCollector) -> None:
    async with traced(collector.url) as process:
        parent = TraceParent(TRACE, SPAN, sampled=True)
        with (
            process.tracer.span(names.DECISION_SPAN, parent),
            process.tracer.span(names.VAULT_SPAN) as inner,
        ):
            assert inner.trace == TRACE
    inside, outside = collector.spans
    assert (inside.parent, outside.parent) == (outside.span, SPAN)


async def test_what_ends_in_an_exception_says_its_kind_and_not_its_text(
    collector: TraceCollector,
) -> None:
    async with traced(collector.url) as process:
        with pytest.raises(ValueError, match="hvs"), process.tracer.span(names.VAULT_SPAN):
            raise ValueError("hvs.secret")
    (span,) = collector.spans
    assert span.attributes == {"error.type": "ValueError"}
    assert b"hvs.secret" not in collector.raw


async def test_an_attribute_that_is_not_declared_is_refused(collector: TraceCollector) -> None:
    async with traced(collector.url) as process:
        with process.tracer.span(names.VAULT_SPAN) as span, pytest.raises(KeyError, match="path"):
            span.note(path="secret/x")


async def test_what_a_collector_does_not_take_is_counted(collector: TraceCollector) -> None:
    collector.status = 400
    async with traced(collector.url) as process:
        with process.tracer.span(names.VAULT_SPAN):
            pass
    meter = process.meter
    assert isinstance(meter, MemoryMeter)
    assert meter.value(names.TRACE_SPANS, result="failed") == 1


@contextlib.asynccontextmanager
async def dripping() -> AsyncIterator[str]:
    """The address of a collector that takes what comes, and never comes to the end of its answer."""
    ended = asyncio.Event()

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not ended.is_set():
            writer.write(b"x")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), 0.1)
        writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ended.set()


async def test_a_collector_whose_answer_does_not_end_holds_up_nobodys_end() -> None:
    async def traced_by(url: str) -> None:
        async with traced(url) as process:
            with process.tracer.span(names.VAULT_SPAN):
                pass

    async with dripping() as url:
        process = asyncio.to_thread(asyncio.run, traced_by(url))
        await asyncio.wait_for(process, PATIENCE_S)


async def test_while_nobody_sends_so_many_wait_and_no_more() -> None:
    meter = MemoryMeter()
    tracer = OtlpTracer("http://127.0.0.1:9", role="brain", meter=meter)
    for _ in range(MOST_WAITING + 3):
        with tracer.span(names.VAULT_SPAN):
            pass
    assert meter.value(names.TRACE_SPANS, result="queue_full") == 3


def test_without_the_package_the_setting_is_refused_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(OperatorError, match="not installed") as refused:
        OtlpTracer("http://127.0.0.1:9", role="brain", meter=MemoryMeter())
    assert "nemutator[otel]" in refused.value.remedy
