"""Queries to a fake, the real Prometheus and the real VictoriaMetrics: one suite; and what answers and secrets do, on the fake."""

import math
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_common.shipping.files import RereadFile
from nemutator_controller.history.remote_write_http import HttpRemoteWrite
from nemutator_controller.history.remote_write_messages import body, labels, series
from nemutator_controller.http_accounts import HttpAccount
from nemutator_controller.prometheus_answers import (
    PrometheusRefusedError,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
    matchers,
)
from nemutator_controller.prometheus_http import PrometheusHttp

from tests.certificates import Authority
from tests.contract.recording_engines import (
    ENGINES,
    REAL_ENGINES,
    RecordingEngine,
    engine,
    real_engine,
)
from tests.fakes.clocks import ManualClock
from tests.fakes.prometheus import FakePrometheus

NAME = "nemutator_asked"


class WallClock(ManualClock):
    def now(self) -> float:
        return time.time()


def to(url: str, **more: object) -> PrometheusHttp:
    return replace(PrometheusHttp(url=url, clock=WallClock()), **more)  # type: ignore[arg-type]


@pytest.fixture(params=ENGINES)
async def asked(request: pytest.FixtureRequest) -> AsyncIterator[RecordingEngine]:
    async with engine(request) as there:
        yield there


@pytest.fixture(params=REAL_ENGINES)
def real(request: pytest.FixtureRequest) -> RecordingEngine:
    return real_engine(request)


async def written(asked: RecordingEngine, owner: str, values: dict[float, float]) -> None:
    text = labels({"__name__": NAME, "owner": owner})
    for at, value in values.items():
        content = body([series(text, value, round(at * 1000))])
        await HttpRemoteWrite(url=f"{asked.url}/api/v1/write").write(content)
    asked.show_all()


async def test_a_range_has_its_steps_and_no_more(asked: RecordingEngine) -> None:
    begin = time.time() // 60 * 60 - 1200
    await written(asked, "cart", {begin + 60 * step: float(step) for step in range(10)})
    answer = await to(asked.url).query_range(
        f"{NAME}{matchers({'owner': 'cart'})}", begin=begin, end=begin + 540, step_s=60
    )
    (found,) = answer.series
    assert found.labels == {"__name__": NAME, "owner": "cart"}
    assert found.at == [begin + 60 * step for step in range(10)]
    assert found.values == list(range(10))
    assert answer.dropped == {}


async def test_a_vector_has_one_sample_of_each_series(asked: RecordingEngine) -> None:
    at = time.time() // 60 * 60 - 60
    await written(asked, "first", {at: 0.25})
    (found,) = (await to(asked.url).query(f"{NAME}{matchers({'owner': 'first'})}", at=at)).series
    assert (found.at, found.values) == ([at], [0.25])


async def test_names_are_texts_and_not_expressions(asked: RecordingEngine) -> None:
    at = time.time() // 60 * 60 - 60
    hostile = 'a"} or b{c="\\ 日本'
    await written(asked, hostile, {at: 1.0})
    (found,) = (await to(asked.url).query(f"{NAME}{matchers({'owner': hostile})}", at=at)).series
    assert found.labels["owner"] == hostile


async def test_nothing_is_an_answer_too(asked: RecordingEngine) -> None:
    answer = await to(asked.url).query(f"{NAME}{matchers({'owner': 'nobody'})}", at=time.time())
    assert list(answer.series) == []


async def test_what_is_no_number_is_left_out(asked: RecordingEngine) -> None:
    at = time.time() // 60 * 60 - 120
    await written(asked, "lying", {at: 1.0, at + 60: math.inf})
    answer = await to(asked.url).query_range(
        f"{NAME}{matchers({'owner': 'lying'})}", begin=at, end=at + 60, step_s=60
    )
    assert [list(one.values) for one in answer.series] == [[1.0]]
    assert answer.dropped == {"not_finite": 1}


async def test_the_real_ones_refuse_what_is_no_query(real: RecordingEngine) -> None:
    with pytest.raises(PrometheusRefusedError, match="400"):
        await to(real.url).query("sum(")


async def test_a_long_range_begins_where_it_was_asked_to(asked: RecordingEngine) -> None:
    # VictoriaMetrics would have moments that its cache can use: multiples of the step.
    begin = time.time() // 60 * 60 - 3_000
    await written(asked, "long", {begin: 1.0, begin + 60: 2.0})
    answer = await to(asked.url).query_range(
        f"{NAME}{matchers({'owner': 'long'})}", begin=begin + 1, end=begin + 601, step_s=7
    )
    assert answer.series[0].at[0] == begin + 1


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, PrometheusRefusedError),
        (302, PrometheusRefusedError),
        (413, PrometheusTooMuchError),
        (422, PrometheusTooMuchError),
        (429, PrometheusUnavailableError),
        (503, PrometheusUnavailableError),
    ],
)
async def test_an_answer_says_whether_to_ask_again(status: int, error: type[Exception]) -> None:
    async with FakePrometheus(status=status, said=b"no").serving() as there:
        with pytest.raises(error, match=str(status)):
            await to(there.url).query("a{}", at=1.0)


@pytest.mark.parametrize(
    "said",
    [b"", b"<html>", b'{"status":"error","errorType":"bad_data","error":"x"}', b"[" * 100_000],
)
async def test_what_is_no_answer_is_refused(said: bytes) -> None:
    async with FakePrometheus(said=said).serving() as there:
        with pytest.raises(PrometheusRefusedError, match="cannot be read"):
            await to(there.url).query("a{}", at=1.0)


async def test_an_answer_has_a_longest_length_and_is_never_unpacked() -> None:
    async with FakePrometheus(said=b" " * 5_000).serving() as there:
        with pytest.raises(PrometheusTooMuchError, match="more than 4096 bytes"):
            await to(there.url, longest=4096).query("a{}", at=1.0)
    packed = FakePrometheus(said=b"\x1f\x8b\x08", headers={"Content-Encoding": "gzip"})
    async with packed.serving() as there:
        with pytest.raises(PrometheusRefusedError, match="cannot be read"):
            await to(there.url).query("a{}", at=1.0)


async def test_who_does_not_answer_in_time_is_unavailable() -> None:
    async with FakePrometheus().serving() as there:
        gone = there.url
        with pytest.raises(PrometheusUnavailableError, match="within 0 s"):
            await to(gone, deadline_s=0.0).query("a{}", at=1.0)
    with pytest.raises(PrometheusUnavailableError, match="does not answer"):
        await to(gone).query("a{}", at=1.0)


async def test_secrets_are_sent_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    secret = RereadFile(file, ManualClock(), reason="file")
    async with FakePrometheus().serving() as there:
        await to(there.url, account=HttpAccount(tenant="team-a")).query("a{}", at=1.0)
        await to(there.url, account=HttpAccount(secret=secret)).query("a{}", at=1.0)
        await to(there.url, account=HttpAccount(secret=secret, user="anna")).query("a{}", at=1.0)
    plain, bearer, basic = [headers for headers, _ in there.asked]
    assert plain["X-Scope-OrgID"] == "team-a"
    assert "Authorization" not in plain
    assert bearer["Authorization"] == "Bearer s3cret"
    assert basic["Authorization"] == "Basic YW5uYTpzM2NyZXQ="
    async with FakePrometheus(status=401, said=b"no s3cret \x1b[2J").serving() as there:
        with pytest.raises(PrometheusRefusedError, match="401") as caught:
            await to(there.url, account=HttpAccount(secret=secret)).query("a{}", at=1.0)
    assert "s3cret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    missing = RereadFile(tmp_path / "none", ManualClock(), reason="file")
    with pytest.raises(PrometheusUnavailableError, match="none"):
        await to("http://127.0.0.1:1", account=HttpAccount(secret=missing)).query("a{}", at=1.0)


async def test_its_certificate_is_that_of_the_authority(tmp_path: Path) -> None:
    authority = Authority("theirs")
    both, ca = tmp_path / "both", tmp_path / "ca"
    both.write_text(authority.server("127.0.0.1").both)
    ca.write_text(authority.certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(both)
    async with FakePrometheus().serving(ssl_context=context) as there:
        trusted = RereadFile(ca, ManualClock(), reason="file")
        await to(there.url, ca=trusted).query("a{}", at=1.0)
        with pytest.raises(PrometheusUnavailableError):
            await to(there.url).query("a{}", at=1.0)
