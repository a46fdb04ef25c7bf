"""What a metric is, and the metrics that every process may have."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its meaning. Each label is always given, from a small, fixed set of values."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets for latencies, from the SLO of a local response (1 ms) and of admission's (2 ms) to the longest deadline
(10 s)."""

HTTP_REQUESTS = Metric(
    "nemutator_http_requests_total",
    "counter",
    "answered HTTP requests, by listener, method and status",
    ("listener", "method", "status"),
)
HTTP_REQUEST_SECONDS = Metric(
    "nemutator_http_request_seconds",
    "histogram",
    "time from the complete head of a request to the last byte of the response",
    ("listener",),
    SECONDS,
)
HTTP_CONNECTIONS = Metric(
    "nemutator_http_connections",
    "gauge",
    "open connections, including those in their TLS handshake",
    ("listener",),
)
TRACE_SPANS = Metric(
    "nemutator_trace_spans_total",
    "counter",
    "spans of traces, by what became of them: sent, failed, queue_full",
    ("result",),
)
LOG_LINES_DROPPED = Metric(
    "nemutator_log_lines_dropped_total",
    "counter",
    "lines of the log that were not written because nobody read the earlier ones",
)
HTTP_HANDSHAKES = Metric(
    "nemutator_http_handshakes",
    "gauge",
    "TLS handshakes under way",
    ("listener",),
)
HTTP_CONNECTIONS_DROPPED = Metric(
    "nemutator_http_connections_dropped_total",
    "counter",
    "connections that we ended, by reason",
    ("listener", "reason"),
)
TLS_RELOADS = Metric(
    "nemutator_tls_reloads_total",
    "counter",
    "attempts to load a changed certificate, by result",
    ("listener", "result"),
)

UPLINK_SENT = Metric(
    "nemutator_uplink_sent_total",
    "counter",
    "records that the brain has acknowledged, by stream: reports, grants, decisions",
    ("stream",),
)
UPLINK_DROPPED = Metric(
    "nemutator_uplink_dropped_total",
    "counter",
    "records that were dropped before the brain had them, by stream and reason: buffer_full,"
    " malformed, too_large",
    ("stream", "reason"),
)
UPLINK_WAITING = Metric(
    "nemutator_uplink_waiting", "gauge", "records that wait for the brain, by stream", ("stream",)
)
UPLINK_FAILURES = Metric(
    "nemutator_uplink_failures_total",
    "counter",
    "calls to the brain that failed, by stream and reason: connection, untrusted, timeout, token,"
    " unauthorised, busy, failed, invalid",
    ("stream", "reason"),
)
