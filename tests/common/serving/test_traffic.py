import logging

import pytest
from nemutator_common import names
from nemutator_common.serving.connection_state import DropReason
from nemutator_common.serving.traffic import ServedRequest, Traffic

from tests.fakes.meters import MemoryMeter

REQUEST = ServedRequest(
    method="GET", path="/x", status=200, body_bytes=3, seconds=0.25, peer="pid 7 uid 0"
)


def test_an_answer_is_one_line_and_one_count(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    meter = MemoryMeter()
    Traffic("console", meter).answered(REQUEST)
    assert meter.value(names.HTTP_REQUESTS, listener="console", method="GET", status="200") == 1
    assert meter.observed(names.HTTP_REQUEST_SECONDS, listener="console") == (0.25,)
    (record,) = caplog.records
    assert record.message == "http_request"
    assert record.args == {
        names.LISTENER: "console",
        names.METHOD: "GET",
        names.PATH: "/x",
        names.STATUS: 200,
        names.BYTES: 3,
        names.DURATION_MS: 250.0,
        names.PEER: "pid 7 uid 0",
    }


def test_routine_requests_are_silent_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    meter = MemoryMeter()
    Traffic("console", meter).answered(REQUEST._replace(routine=True))
    assert not caplog.records
    assert meter.total(names.HTTP_REQUESTS) == 1


def test_a_strangers_method_is_no_label(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    meter = MemoryMeter()
    Traffic("console", meter).answered(REQUEST._replace(method="BREW", error="odd"))
    assert meter.total(names.HTTP_REQUESTS, method="other") == 1
    (record,) = caplog.records
    assert isinstance(record.args, dict)
    assert (record.args[names.METHOD], record.args[names.ERROR]) == ("BREW", "odd")


def test_connections_and_their_ends_are_counted() -> None:
    meter = MemoryMeter()
    traffic = Traffic("console", meter)
    traffic.opened(4)
    traffic.opened(-1)
    traffic.dropped(DropReason.IDLE)
    assert meter.value(names.HTTP_CONNECTIONS, listener="console") == 3
    dropped = meter.value(names.HTTP_CONNECTIONS_DROPPED, listener="console", reason="idle")
    assert dropped == 1
