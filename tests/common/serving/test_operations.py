import json

from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_common.serving.operations import respond

from tests.fakes.meters import MemoryMeter


def test_a_process_that_answers_lives_even_when_it_is_not_ready() -> None:
    readiness = Readiness()
    readiness.fail("uplink", "no answer yet")
    assert respond("healthz", readiness, MemoryMeter()).status == 200
    assert respond("readyz", readiness, MemoryMeter()).status == 503


def test_readiness_has_problems_and_notes_as_text_and_as_json() -> None:
    readiness, meter = Readiness(), MemoryMeter()
    readiness.note("webhook", "anybody may call")
    ready = respond("readyz", readiness, meter)
    assert (ready.status, ready.body) == (200, b"ready\nnote: webhook: anybody may call\n")
    readiness.fail("uplink", "no answer yet")
    shown = respond("readyz", readiness, meter)
    assert shown.body == b"uplink: no answer yet\nnote: webhook: anybody may call\n"
    assert shown.content_type.startswith("text/plain")
    typed = respond("readyz", readiness, meter, as_json=True)
    assert (typed.status, typed.content_type) == (503, "application/json; charset=utf-8")
    assert json.loads(typed.body) == {
        "ready": False,
        "problems": {"uplink": "no answer yet"},
        "notes": {"webhook": "anybody may call"},
    }


def test_metrics_are_what_the_meter_shows() -> None:
    meter = MemoryMeter()
    meter.gauge(names.VOLUMES, 3)
    response = respond("metrics", Readiness(), meter)
    assert (response.content_type, response.body) == (meter.content_type, meter.exposition())
