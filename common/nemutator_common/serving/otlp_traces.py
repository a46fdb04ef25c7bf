"""Spans to a collector, by OTLP over HTTP: the only file that imports OpenTelemetry, and only where a setting names one."""

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, cast

from nemutator_common import __version__, names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.meters import Meter
from nemutator_common.names import TracedSpan
from nemutator_common.traces import Span, TraceParent

log = logging.getLogger(__name__)

MOST_WAITING = 2048
"""Spans that wait while a collector is slow; the newest are dropped, counted."""
MOST_AT_ONCE = 256
CALL_S = 10.0
LAST_S = 2.0
"""For what is left when the process ends."""
PATH = "/v1/traces"


class OtlpTracer:
    """`run` is a task for a Supervisor."""

    collects = True

    def __init__(self, endpoint: str, *, role: str, meter: Meter) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
        except ImportError as error:
            raise OperatorError(
                "traces are asked for, and OpenTelemetry is not installed here",
                remedy="install nemutator[otel], or leave the setting `traces` empty",
                code=ExitCode.SETTINGS,
            ) from error
        # It writes a line for each try; here one says when that changes.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._endpoint = endpoint
        self._meter = meter
        self._under_way: tuple[asyncio.Future[Any], int] | None = None
        self._last = ""
        self._waiting: deque[Any] = deque()
        self._news = asyncio.Event()
        self._exporter: Any = OTLPSpanExporter(
            endpoint=endpoint.rstrip("/") + PATH, timeout=CALL_S, headers={}
        )
        provider = TracerProvider(
            resource=Resource.create(
                {
                    "service.name": f"nemutator-{role}",
                    "service.version": __version__,
                }
            ),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(cast("Any", _Collected(self)))
        self._tracer = provider.get_tracer(names.PREFIX, __version__)

    @contextlib.contextmanager
    def span(self, declared: TracedSpan, parent: TraceParent | None = None) -> Iterator[Span]:
        from opentelemetry import trace

        context = None
        if parent is not None:
            theirs = trace.SpanContext(
                int(parent.trace, 16),
                int(parent.span, 16),
                is_remote=True,
                trace_flags=trace.TraceFlags(int(parent.sampled)),
            )
            context = trace.set_span_in_context(trace.NonRecordingSpan(theirs))
        # An exception's text may quote what it is about: the span says that there was one, and no more.
        with self._tracer.start_as_current_span(
            declared.name, context, record_exception=False, set_status_on_exception=False
        ) as opened:
            try:
                yield _OpenSpan(declared, opened)
            except BaseException as error:
                opened.set_attribute("error.type", type(error).__name__)
                raise

    def ended(self, span: Any) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._meter.count(names.TRACE_SPANS, result="queue_full")
            return
        self._waiting.append(span)
        self._news.set()

    async def run(self) -> None:
        """Send what has ended, until cancelled; then what is left."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._waiting:
                    await self._send()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_S):
                    while self._waiting or self._under_way is not None:
                        await self._send()
            # Whatever it still tries, it gives up: its thread holds up the end of the process.
            self._exporter.shutdown()

    async def _send(self) -> None:
        """One batch; that which is under way when this is cancelled goes on, and is waited for by the next call."""
        if self._under_way is None:
            taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
            self._under_way = self._exported(taken), len(taken)
        sending, count = self._under_way
        # The exporter has a deadline of its own, in which it tries again.
        result = "sent" if await asyncio.shield(sending) else "failed"
        self._under_way = None
        self._meter.count(names.TRACE_SPANS, count, result=result)
        if result != self._last:
            level = logging.INFO if result == "sent" else logging.WARNING
            log.log(level, "traces", {names.RESULT: result, names.ADDRESS: self._endpoint})
            self._last = result

    def _exported(self, spans: list[Any]) -> asyncio.Future[bool]:
        """Whether the collector has taken them.

        In a thread that the end of the process does not wait for: a collector that answers a byte now and then
        keeps to the exporter's deadline, which begins anew with each, and may go on for hours.
        """
        from opentelemetry.sdk.trace.export import SpanExportResult

        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()

        def export() -> None:
            sent = False
            try:
                sent = self._exporter.export(spans) is SpanExportResult.SUCCESS
            finally:
                # The loop may have ended meanwhile.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(done.set_result, sent)

        threading.Thread(target=export, name="send spans", daemon=True).start()
        return done


class _OpenSpan:
    __slots__ = ("_declared", "_opened", "trace")

    def __init__(self, declared: TracedSpan, opened: Any) -> None:
        self._declared = declared
        self._opened = opened
        context = opened.get_span_context()
        self.trace = f"{context.trace_id:032x}" if opened.is_recording() else ""

    def note(self, **attributes: str) -> None:
        for name, value in attributes.items():
            if name not in self._declared.attributes:
                raise KeyError(f"{self._declared.name} declares no attribute {name}")
            self._opened.set_attribute(f"{names.PREFIX}.{name}", value)


class _Collected:
    """What the SDK tells of each span."""

    def __init__(self, tracer: OtlpTracer) -> None:
        self._tracer = tracer

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        return None

    def _on_ending(self, span: Any) -> None:
        return None

    def on_end(self, span: Any) -> None:
        if span.context.trace_flags.sampled:
            self._tracer.ended(span)

    def shutdown(self) -> None:
        return None

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True
