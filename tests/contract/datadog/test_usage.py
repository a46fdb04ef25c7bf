"""What containers used, read from a Datadog that answers as its documentation says, by the brain and by a command."""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from nemutator_common.errors import ExitCode
from nemutator_common.shipping.files import RereadFile
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogAnswer,
    DatadogBusyError,
    DatadogRefusedError,
    DatadogUnavailableError,
)
from nemutator_controller.sizing.sources.datadog_http import DatadogHttp, DatadogKeys
from nemutator_controller.sizing.sources.datadog_questions import (
    API_KEY,
    APPLICATION_KEY,
    DatadogQuestion,
    requests,
)
from nemutator_controller.sizing.sources.datadog_reading import DatadogReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.ports import DatadogQueries
from nemutator_ctl.__main__ import main
from nemutator_ctl.advise.datadog_client import DatadogClient

from tests.contract.usage_sources import tells_half_a_core_and_a_peak
from tests.fakes.clocks import ManualClock
from tests.fakes.datadog import FakeDatadog

POD = "cart-7c9d8f5b6d-x2x9k"
KEY = ContainerKey("shop", "Deployment", "cart", "app")
CLUSTER = "west"


class WallClock(ManualClock):
    def now(self) -> float:
        return time.time()


def recorded(fake: FakeDatadog, *, hours: int = 1) -> None:
    """Half a core; a peak of 300 MB; another cluster, and what belongs to nobody."""
    end = time.time() // 20 * 20
    moments = [end - 20.0 * number for number in range(hours * 180)]
    here = {"kube_namespace": "shop", "kube_cluster_name": CLUSTER}
    tags = {**here, "pod_name": POD, "kube_container_name": "app"}
    owner = {"kube_ownerref_kind": "replicaset", "kube_ownerref_name": "cart-7c9d8f5b6d"}
    for one in (tags, {**tags, "kube_cluster_name": "east", "pod_name": "other"}):
        fake.keep("kubernetes.cpu.usage.total", dict.fromkeys(moments, 0.5e9), **one, **owner)
        fake.keep("kubernetes.memory.working_set", dict.fromkeys(moments, 200e6), **one, **owner)
    fake.keep("kubernetes.memory.working_set", {moments[90]: 300e6}, **tags, **owner)
    # A pod's own, and what the check of another container runtime says of no container.
    fake.keep("kubernetes.memory.working_set", dict.fromkeys(moments, 9e9), **here, pod_name=POD)
    fake.keep("kubernetes.cpu.requests", dict.fromkeys(moments, 2.0), **tags, **owner)
    fake.keep("kubernetes.containers.running", dict.fromkeys(moments, 1.0), **here, pod_name=POD)


@pytest.fixture
async def fake() -> AsyncIterator[FakeDatadog]:
    async with FakeDatadog(api_key="a1", application_key="a2").serving() as there:
        recorded(there)
        yield there


def keys_in(folder: Path, *, api: str = "a1", application: str = "a2") -> tuple[Path, Path]:
    files = folder / "api", folder / "application"
    for file, text in zip(files, (api, application), strict=True):
        file.write_text(f"{text}\n")
    return files


def brains(url: str, folder: Path, **more: str) -> DatadogHttp:
    api, application = keys_in(folder, **more)
    clock = WallClock()
    keys = DatadogKeys(
        RereadFile(api, clock, reason="file"), RereadFile(application, clock, reason="file")
    )
    return DatadogHttp(url=url, keys=keys, clock=clock)


@dataclass(frozen=True)
class InThread:
    """The command's client, which blocks, where the fake is served by the same loop. A `DatadogQueries`."""

    client: DatadogClient

    async def ask(self, question: DatadogQuestion, *, units: Sequence[str]) -> DatadogAnswer:
        return await asyncio.to_thread(asyncio.run, self.client.ask(question, units=units))


def commands(url: str, folder: Path, *, api: str = "a1", application: str = "a2") -> DatadogQueries:
    keys = {API_KEY: api, APPLICATION_KEY: application}
    return InThread(DatadogClient(urlsplit(url), keys))


Way = Callable[..., DatadogQueries]
WAYS = pytest.mark.parametrize("asked_by", [brains, commands])


@WAYS
async def test_use_is_read_with_whose_it_was(
    fake: FakeDatadog, tmp_path: Path, asked_by: Way
) -> None:
    client = asked_by(fake.url, tmp_path)
    reading = DatadogReading(
        client, NamedOwners(), WallClock(), cluster=CLUSTER, longest_wait_s=1.0
    )
    await tells_half_a_core_and_a_peak(reading, KEY)
    assert reading.dropped["nameless"] > 0


def question() -> DatadogQuestion:
    now = time.time() // 300 * 300
    asked = requests("*", step_s=300)
    return DatadogQuestion(queries=asked, begin=now - 300, end=now, step_s=300)


@WAYS
async def test_keys_that_are_wrong_are_refused_and_not_shown(
    fake: FakeDatadog, tmp_path: Path, asked_by: Way
) -> None:
    client = asked_by(fake.url, tmp_path, application="s3cret-application")
    with pytest.raises(DatadogRefusedError, match=r"403.*timeseries_query") as refused:
        await client.ask(question(), units=("core", "byte"))
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(client)


@WAYS
async def test_when_it_was_asked_too_often_it_says_until_when(
    fake: FakeDatadog, tmp_path: Path, asked_by: Way
) -> None:
    client = asked_by(fake.url, tmp_path)
    fake.left = 1
    assert (await client.ask(question(), units=("core", "byte"))).pause_s == fake.reset_s
    with pytest.raises(DatadogBusyError) as busy:
        await client.ask(question(), units=("core", "byte"))
    assert busy.value.wait_s == fake.reset_s


@WAYS
async def test_a_question_that_it_does_not_understand_is_refused_with_why(
    fake: FakeDatadog, tmp_path: Path, asked_by: Way
) -> None:
    client = asked_by(fake.url, tmp_path)
    with pytest.raises(DatadogRefusedError, match=r"400.*cannot parse"):
        await client.ask(replace(question(), queries=("nonsense",)), units=("core",))


@WAYS
async def test_what_is_no_answer_is_refused(
    fake: FakeDatadog, tmp_path: Path, asked_by: Way
) -> None:
    client = asked_by(fake.url, tmp_path)
    fake.said = b"<html>"
    with pytest.raises(DatadogRefusedError, match="cannot be read"):
        await client.ask(question(), units=("core",))


@WAYS
async def test_one_that_is_gone_is_unavailable(tmp_path: Path, asked_by: Way) -> None:
    client = asked_by("http://127.0.0.1:1", tmp_path)
    with pytest.raises(DatadogUnavailableError, match=r"127\.0\.0\.1"):
        await client.ask(question(), units=("core",))


async def test_one_that_is_slow_is_unavailable(fake: FakeDatadog, tmp_path: Path) -> None:
    client = replace(brains(fake.url, tmp_path), deadline_s=0.0)
    with pytest.raises(DatadogUnavailableError, match="has not answered within 0 s"):
        await client.ask(question(), units=("core",))


async def test_keys_are_read_again_after_they_were_refused(
    fake: FakeDatadog, tmp_path: Path
) -> None:
    client = brains(fake.url, tmp_path, api="old")
    with pytest.raises(DatadogRefusedError):
        await client.ask(question(), units=("core", "byte"))
    keys_in(tmp_path)
    await client.ask(question(), units=("core", "byte"))


@contextlib.contextmanager
def served(fake: FakeDatadog) -> Iterator[FakeDatadog]:
    """One that answers while a command blocks this thread."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        async with fake.serving():
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(60)
        yield fake
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def words(fake: FakeDatadog, folder: Path) -> list[str]:
    api, application = keys_in(folder, api=fake.api_key, application=fake.application_key)
    return [
        *("advise", "--datadog", fake.url, "--days", "1", "--datadog-cluster", CLUSTER),
        *("--datadog-api-key-file", str(api), "--datadog-application-key-file", str(application)),
    ]


def test_advice_comes_from_it_with_nothing_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeDatadog()
    recorded(fake, hours=12)
    with served(fake):
        for strategy in ("nemutator", "nemutator-hourly", "krr", "seed"):
            given = [*words(fake, tmp_path), "--strategy", strategy, "-n", "shop", "-o", "json"]
            assert main(given) == ExitCode.OK
            (row,) = json.loads(capsys.readouterr().out)["items"]
            assert (row["owner"], row["strategy"]) == ("cart", strategy)
            assert row["requests_now"]["cpu"] == "2000m"
            assert 490 <= int(row["requests"]["cpu"].removesuffix("m")) <= 560
        assert main(words(fake, tmp_path)) == ExitCode.OK
        captured = capsys.readouterr()
    assert "Deployment/cart" in captured.out
    assert "guessed" not in captured.err


def test_a_period_that_is_used_up_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(FakeDatadog(left=0, reset_s=900)) as fake:
        assert main(words(fake, tmp_path)) == ExitCode.UNREACHABLE
    assert "ask again in 900 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--datadog", "datadoghq.eu"), "an API key and an application key"),
        (("--datadog", ""), "is no site"),
        (("--datadog", "https://user:s@x"), "is no site"),
        (("--datadog", "http://example.org", "KEYS"), "readable on the way"),
        (("--datadog", "datadoghq.eu", "KEYS", "--datadog-cluster", "a,b"), "is no name"),
        (("--datadog", "datadoghq.eu", "KEYS", "-n", "*"), "is no name"),
        (("--datadog", "http://127.0.0.1:1", "KEYS", "--days", "15"), "--days 15"),
        (("--datadog", "datadoghq.eu", "--prometheus", "http://127.0.0.1:1"), "name one of them"),
    ],
)
def test_what_cannot_be_asked_is_said(
    given: Sequence[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api, application = keys_in(tmp_path)
    keys = [
        *("--datadog-api-key-file", str(api)),
        *("--datadog-application-key-file", str(application)),
    ]
    argv = [word for one in given for word in (keys if one == "KEYS" else [one])]
    assert main(["advise", *argv]) == ExitCode.USAGE
    assert said in capsys.readouterr().err
