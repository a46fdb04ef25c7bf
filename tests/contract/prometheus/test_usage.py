"""What containers used, read from a fake, the real Prometheus and the real VictoriaMetrics: one suite; and `nemutator advise` on both."""

import json
import math
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.history.remote_write_http import HttpRemoteWrite
from nemutator_controller.history.remote_write_messages import body, labels, series
from nemutator_controller.prometheus_answers import PrometheusTooMuchError
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.queries import (
    CPU_TOTAL,
    REQUESTS,
    WORKING_SET,
    usage_expressions,
)
from nemutator_ctl.__main__ import main

from tests.contract.recording_engines import ENGINES, RecordingEngine, engine, real_engine
from tests.contract.usage_sources import tells_half_a_core_and_a_peak
from tests.fakes.clocks import ManualClock
from tests.fakes.prometheus import FakePrometheus
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.victoria_metrics import VictoriaMetrics, begin
from tests.testbed.running.run import Run

STEP_S = 60
MINUTES = 50
"""The real one takes what is an hour old, and no more."""
POD = "cart-7c9d8f5b6d-x2x9k"
SHOP, CORNER = "shop", "corner"
"""A namespace for each test: the real one takes nothing that is older than what it has."""
KEY = ContainerKey(SHOP, "Deployment", "cart", "app")


class WallClock(ManualClock):
    def now(self) -> float:
        return time.time()


@pytest.fixture(params=ENGINES)
async def asked(request: pytest.FixtureRequest) -> AsyncIterator[RecordingEngine]:
    async with engine(request) as there:
        yield there


async def written(url: str, name: str, values: Sequence[tuple[float, float]], **more: str) -> None:
    text = labels({"__name__": name, "pod": POD, "container": "app", **more})
    for at, value in values:
        content = body([series(text, value, round(at * 1000))])
        await HttpRemoteWrite(url=f"{url}/api/v1/write").write(content)


def moments() -> list[float]:
    # VictoriaMetrics shows nobody what came in the last half a minute.
    end = (time.time() - 30) // STEP_S * STEP_S
    return [end - STEP_S * number for number in range(MINUTES, -1, -1)]


async def recorded(asked: RecordingEngine, namespace: str) -> None:
    """Half a core, whose counter begins anew once; a peak of 300 MB; and what cannot be."""
    at, url = moments(), asked.url
    counter = [(one, 0.5 * STEP_S * (number % 30)) for number, one in enumerate(at)]
    await written(url, CPU_TOTAL, counter, namespace=namespace)
    # Scraped twice, as by two jobs.
    await written(url, CPU_TOTAL, counter, job="other", namespace=namespace)
    await written(
        url,
        WORKING_SET,
        [(one, 3e8 if n == 20 else 2e8) for n, one in enumerate(at)],
        namespace=namespace,
    )
    await written(url, REQUESTS, [(at[-1], 2.0)], resource="cpu", unit="core", namespace=namespace)
    # A pod's own group has no container.
    await written(url, WORKING_SET, [(at[-1], 9e9)], container="", namespace=namespace)
    await written(url, WORKING_SET, [(at[-1], math.nan)], container="lies", namespace=namespace)
    asked.show_all()


async def test_use_is_read_with_whose_it_was(asked: RecordingEngine) -> None:
    await recorded(asked, SHOP)
    source = PrometheusHttp(url=asked.url, clock=WallClock())
    await tells_half_a_core_and_a_peak(
        PrometheusReading(source, NamedOwners(), namespace=SHOP), KEY
    )


@pytest.fixture(scope="module")
def limited(testbed_run: Run) -> VictoriaMetrics:
    """One that computes the samples of one namespace at once, and not those of two."""
    with skipped_when_missing():
        return begin(testbed_run, "-search.maxSamplesPerQuery=150", name="victoria-metrics-limited")


@pytest.mark.e2e
async def test_who_has_a_limit_is_asked_for_less_at_once(limited: VictoriaMetrics) -> None:
    for namespace in (SHOP, CORNER):
        await recorded(RecordingEngine(limited.url, limited.show_all), namespace)
    source = PrometheusHttp(url=limited.url, clock=WallClock())
    end = time.time() // 300 * 300
    whole = usage_expressions([SHOP, CORNER], recorded=False).cores
    with pytest.raises(PrometheusTooMuchError, match="maxSamplesPerQuery"):
        await source.query_range(whole, begin=end - 3_000, end=end, step_s=300)
    reading = PrometheusReading(source, NamedOwners())
    steps = [one async for one in reading.steps(begin=end - 3_000, end=end)]
    assert {of.namespace for one in steps for of in one.cores} == {SHOP, CORNER}


def test_advice_comes_from_it_with_nothing_installed(
    served: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row: Any = None
    for name, words in (
        ("nemutator", ()),
        ("krr", ("--strategy", "krr")),
        ("seed", ("--strategy", "seed")),
    ):
        assert (
            main(
                [
                    "advise",
                    "--prometheus",
                    served,
                    "--days",
                    "1",
                    "-n",
                    CORNER,
                    "-o",
                    "json",
                    *words,
                ]
            )
            == 0
        )
        (row,) = json.loads(capsys.readouterr().out)["items"]
        assert (row["owner"], row["strategy"]) == ("cart", name)
        assert row["requests_now"]["cpu"] == "2000m"
    # The last one was seed's: the most and a third to limit, the average and a tenth to request. It looks every five
    # minutes, and may miss a peak between; what it sees first may be a minute of five, and a counter that began anew lacks one.
    assert row["limits"]["memory"] in ("399000000", "266000000")
    assert 215_000_000 <= int(row["requests"]["memory"]) <= 235_000_000
    assert 440 <= int(row["requests"]["cpu"].removesuffix("m")) <= 650
    assert main(["advise", "--prometheus", served, "--days", "1", "-n", CORNER]) == 0
    captured = capsys.readouterr()
    assert "Deployment/cart" in captured.out
    assert "workloads are guessed from names of pods" in captured.err


@pytest.fixture(params=ENGINES)
def served(request: pytest.FixtureRequest) -> object:
    """One that answers while a command blocks this thread."""
    import asyncio
    import threading

    if request.param != "fake":
        real = real_engine(request)
        asyncio.run(recorded(real, CORNER))
        yield real.url
        return
    fake, loop, ready, stop = FakePrometheus(), asyncio.new_event_loop(), threading.Event(), None

    async def serve() -> None:
        nonlocal stop
        stop = asyncio.Event()
        async with fake.serving() as there:
            await recorded(RecordingEngine(there.url), CORNER)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield fake.url
    finally:
        assert stop is not None
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ftp://x",), "is no address"),
        (("http://user@x",), "is no address"),
        (("http://127.0.0.1:1", "--days", "15"), "--days 15"),
        (("http://127.0.0.1:1", "--prometheus-user", "me"), "belong together"),
        (("http://127.0.0.1:1", "--prometheus-token-file", "/nonexistent"), "cannot be read"),
        (("http://example.org", "--prometheus-token-file", "/etc/hostname"), "readable on the way"),
    ],
)
def test_what_cannot_be_asked_is_said(
    words: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", "--prometheus", *words]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_one_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "--prometheus", "http://127.0.0.1:1"]) == ExitCode.UNREACHABLE
    assert "127.0.0.1:1: Connection refused" in capsys.readouterr().err
