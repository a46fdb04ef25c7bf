"""A collector of traces on loopback: it takes OTLP over HTTP as a real one does, and keeps what it decodes."""

import contextlib
import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True, slots=True)
class CollectedSpan:
    service: str
    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, str]
    events: int


@dataclass
class TraceCollector:
    url: str = ""
    spans: list[CollectedSpan] = field(default_factory=list)
    status: int = 200
    raw: bytes = b""
    """All that came, as it came."""

    async def take(self, request: web.Request) -> web.Response:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        body = await request.read()
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        assert request.content_type == "application/x-protobuf"
        if self.status == 200:
            self.raw += body
            asked: Any = ExportTraceServiceRequest.FromString(body)
            for resource in asked.resource_spans:
                service = _texts(resource.resource.attributes)["service.name"]
                for scope in resource.scope_spans:
                    self.spans += [_span(service, each) for each in scope.spans]
        return web.Response(status=self.status, content_type="application/x-protobuf")


def _texts(attributes: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in attributes}


def _span(service: str, span: Any) -> CollectedSpan:
    return CollectedSpan(
        service=service,
        name=span.name,
        trace=span.trace_id.hex(),
        span=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        attributes=_texts(span.attributes),
        events=len(span.events),
    )


@contextlib.asynccontextmanager
async def collecting() -> AsyncIterator[TraceCollector]:
    collector = TraceCollector()
    application = web.Application()
    application.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield collector
    finally:
        await runner.cleanup()
