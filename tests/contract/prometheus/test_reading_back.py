"""What remote write has sent is read back the same: on a fake, the real Prometheus and the real VictoriaMetrics; and through the API."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.app.prometheus import prometheus as prometheus_of
from nemutator_controller.app.remote_write import remote_write
from nemutator_controller.history.older import OlderQuestion
from nemutator_controller.history.older_reading import ReadingBack
from nemutator_controller.history.remote_write_messages import body, labels, series
from nemutator_controller.history.written_minutes import PREFIX
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.keys import ContainerKey

from tests.contract.history.test_api import asked, report
from tests.contract.prometheus.test_queries import WallClock
from tests.contract.recording_engines import ENGINES, RecordingEngine, engine
from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.process import fake_process
from tests.fakes.prometheus import FakePrometheus

UNIT = "/api/v1/workloads/system.slice/unit/ssh.service/history"
DAY = 86_400


@pytest.fixture(params=ENGINES)
async def stored(request: pytest.FixtureRequest) -> AsyncIterator[RecordingEngine]:
    async with engine(request) as there:
        yield there


def minute(key: ContainerKey, number: int, values: dict[str, float], **more: str) -> bytes:
    """A body as remote write sends it of one minute."""
    named = {
        **more,
        "namespace": key.namespace,
        "owner_kind": key.owner_kind,
        "owner": key.owner,
        "container": key.container,
    }
    return body(
        series(labels({"__name__": PREFIX + name}) + labels(named), value, (number + 1) * 60_000)
        for name, value in values.items()
    )


async def test_minutes_come_back_as_steps(stored: RecordingEngine) -> None:
    key = ContainerKey("shop", "Deployment", 'api"\\{}', "app")
    # Real Prometheus takes samples of the last hour alone, in their order.
    first = int(time.time() // 300 * 5) - 30
    writer = remote_write(BrainSettings(remote_write=f"{stored.url}/api/v1/write"), fake_process())
    assert writer is not None
    for number in range(first - 1, first + 11):
        if number == first + 3:
            continue
        use = {"pods": 2.0, "cpu_cores": number - first + 1.0, "cpu_cores_pod_max": 20.0}
        await writer.write(minute(key, number, use, cluster="a"))
        await writer.write(minute(key, number, {"cpu_cores": 1000.0}, cluster="b"))
    stored.show_all()
    source = prometheus_of(
        BrainSettings(prometheus=stored.url), fake_process(clock=WallClock()), None
    )
    assert source is not None
    reading = ReadingBack(source, fake_process(), {"cluster": "a"})
    found = await reading.cells(OlderQuestion(key, first * 60, 300, 3))
    cpu = found.cells.figures["cpu_cores"]
    assert found.dropped == {}
    # Minutes 1, 2, 3 and 5 of the first step; 6 to 10 of the second; 11 alone of the third.
    assert found.cells.seconds.tolist() == [240, 300, 60]
    assert cpu["mean"].tolist() == [2.75, 8.0, 11.0]
    assert cpu["low"].tolist() == [1.0, 6.0, 11.0]
    assert cpu["high"].tolist() == [5.0, 10.0, 11.0]
    assert cpu["most"].tolist() == [20.0, 20.0, 20.0]
    assert found.cells.pods.tolist() == [2.0, 2.0, 2.0]
    nobody = msgspec.structs.replace(key, owner="nobody")
    nothing = await reading.cells(OlderQuestion(nobody, first * 60, 300, 3))
    assert nothing.samples == 0
    assert np.isnan(nothing.cells.pods).all()


async def test_what_one_replica_missed_another_tells(stored: RecordingEngine) -> None:
    key = ContainerKey("shop", "Deployment", "moved", "app")
    first = int(time.time() // 300 * 5) - 30
    writer = remote_write(BrainSettings(remote_write=f"{stored.url}/api/v1/write"), fake_process())
    assert writer is not None
    for number in range(first, first + 10):
        use = {"pods": 2.0, "cpu_cores": number - first + 1.0}
        # A label that the brain has not sent, as those have who keep several copies apart.
        await writer.write(minute(key, number, use, replica="a" if number < first + 5 else "b"))
    stored.show_all()
    source = prometheus_of(
        BrainSettings(prometheus=stored.url), fake_process(clock=WallClock()), None
    )
    assert source is not None
    found = await ReadingBack(source, fake_process()).cells(OlderQuestion(key, first * 60, 300, 2))
    assert found.cells.figures["cpu_cores"]["mean"].tolist() == [3.0, 8.0]
    assert found.cells.seconds.tolist() == [300, 300]
    assert found.dropped == {}


async def test_weeks_are_answered_and_shown(tmp_path: Path, nemutator: CommandLine) -> None:
    now = time.time()
    key = ContainerKey("system.slice", "unit", "ssh.service", "-")
    async with FakePrometheus().serving() as there:
        for days in (20, 10, 2):
            number = int((now - days * DAY) // 60)
            there.take(minute(key, number, {"pods": 1.0, "cpu_cores": float(days)}))
        settings = {"prometheus": there.url}
        async with standing_brain(tmp_path / "data", **settings) as brain:
            await report(brain, now // 60 * 60 - 600, range(12))
            document = await asked(brain, f"{UNIT}?from=-{21 * DAY}")
            shown = await nemutator("history", "ssh.service", "--since", "3w")
            there.warnings = ["a store is away"]
            warned = await asked(brain, f"{UNIT}?from=-{16 * DAY}")
            there.status = 503
            failing = await asked(brain, f"{UNIT}?from=-{15 * DAY}")
            recent = await asked(brain, f"{UNIT}?from=-3600")
    known = [value for value in document["figures"]["cpu_cores"]["mean"] if value is not None]
    assert document["step_s"] == 3600
    # What came just now lies in one hour, or in two when the hour is young.
    assert (known[:3], set(known[3:])) == ([20.0, 10.0, 2.0], {0.25})
    assert document["window"]["cpu_cores"]["high"] == 20.0
    assert document["older"]["samples"] > 0
    assert shown.code == ExitCode.OK, shown.err
    assert "20.000" in shown.out
    assert document["older"]["warnings"] == []
    assert warned["older"]["warnings"] == ["a store is away"]
    assert "503" in failing["older"]["missing"]
    known = [value for value in failing["figures"]["cpu_cores"]["mean"] if value is not None]
    assert set(known) == {0.25}
    assert recent["older"] is None


async def test_without_one_a_day_is_all_there_is(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await report(brain, time.time() // 60 * 60 - 600, range(12))
        document = await asked(brain, f"{UNIT}?from=-{21 * DAY}")
    assert document["older"] is None
    assert document["steps"] * document["step_s"] < 26 * 3600


@pytest.mark.parametrize(
    "settings",
    [
        {"prometheus": "http://far.example", "prometheus_token_file": "/t"},
        {"prometheus": "https://a", "prometheus_user": "anna"},
        {
            "prometheus": "https://a",
            "prometheus_token_file": "/t",
            "prometheus_user": "u",
            "prometheus_password_file": "/p",
        },
        {"prometheus": "find"},
    ],
)
def test_settings_that_contradict_each_other_are_a_message(settings: dict[str, str]) -> None:
    with pytest.raises(OperatorError, match=r"brain\.prometheus"):
        prometheus_of(BrainSettings(**settings), fake_process(), None)  # type: ignore[arg-type]
