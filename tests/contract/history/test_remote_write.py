"""Remote write to a fake, the real Prometheus and the real VictoriaMetrics: one suite; and what answers and secrets do, on the fake."""

import math
import ssl
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.app.remote_write import remote_write
from nemutator_controller.history.remote_write_http import LONGEST_RETRY_S, HttpRemoteWrite
from nemutator_controller.history.remote_write_messages import (
    RemoteWriteRefusedError,
    RemoteWriteUnavailableError,
    body,
    labels,
    series,
)
from nemutator_controller.settings.brain import BrainSettings

from tests.certificates import Authority
from tests.contract.recording_engines import ENGINES, REAL_ENGINES, real_engine
from tests.fakes.process import fake_process
from tests.fakes.remote_write import HttpReceiver

NAME = "nemutator_container_cpu_cores"


@dataclass
class Receiver:
    url: str
    last: Callable[[str, str], float]
    """The last value of a series with this name and this owner."""
    says_what_it_refuses: bool = True


@pytest.fixture(params=ENGINES)
async def receiver(request: pytest.FixtureRequest) -> AsyncIterator[Receiver]:
    if request.param != "fake":
        yield real_receiver(request)
        return
    async with HttpReceiver().serving() as there:
        yield Receiver(
            there.url, lambda name, owner: [*there.values(name, owner=owner).values()][-1]
        )


@pytest.fixture(params=REAL_ENGINES)
def real(request: pytest.FixtureRequest) -> Receiver:
    return real_receiver(request)


def real_receiver(request: pytest.FixtureRequest) -> Receiver:
    part, engine = request.getfixturevalue(request.param), real_engine(request)

    def last(name: str, owner: str) -> float:
        engine.show_all()
        (found,) = part.query(f'last_over_time({name}{{owner="{owner}"}}[1h])')
        return float(found["value"][1])

    # VictoriaMetrics takes a body with samples that are older than it keeps any, and logs that it left those out.
    return Receiver(f"{engine.url}/api/v1/write", last, request.param == "prometheus")


def to(url: str, **settings: str) -> HttpRemoteWrite:
    made = remote_write(BrainSettings(remote_write=url, **settings), fake_process())  # type: ignore[arg-type]
    assert made is not None
    return made


def message(owner: str, value: float, *, at: float | None = None, more: int = 0) -> bytes:
    # VictoriaMetrics shows nobody what came in the last half a minute.
    at_ms = round((time.time() - 60 if at is None else at) * 1000)
    owners = [owner, *(f"{owner}-{number}" for number in range(more))]
    return body(series(labels({"__name__": NAME, "owner": one}), value, at_ms) for one in owners)


async def test_samples_arrive(receiver: Receiver) -> None:
    await to(receiver.url).write(message("cart", 0.25))
    assert receiver.last(NAME, "cart") == 0.25


async def test_a_body_of_many_literals_is_read(receiver: Receiver) -> None:
    content = message("many", 2.5, more=3_000)
    assert len(content) > 3 * (1 << 16)
    await to(receiver.url).write(content)
    assert receiver.last(NAME, "many-2999") == 2.5


async def test_what_is_too_old_is_refused_or_left_out_without_a_word(real: Receiver) -> None:
    refused = False
    try:
        await to(real.url).write(message("old", 1.0, at=time.time() - 3 * 365 * 86_400))
    except RemoteWriteRefusedError as error:
        refused = "400" in str(error)
    assert refused == real.says_what_it_refuses
    await to(real.url).write(message("old", 2.0))
    assert real.last(NAME, "old") == 2.0


async def test_texts_are_those_of_people(receiver: Receiver) -> None:
    await to(receiver.url).write(message("Grüße/日本 é", 1.0))
    assert receiver.last(NAME, "Grüße/日本 é") == 1.0


async def test_the_real_ones_refuse_what_is_no_message(real: Receiver) -> None:
    with pytest.raises(RemoteWriteRefusedError, match="400"):
        await to(real.url).write(b"\x03\x08abc")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RemoteWriteRefusedError),
        (401, RemoteWriteRefusedError),
        (404, RemoteWriteRefusedError),
        (302, RemoteWriteRefusedError),
        (429, RemoteWriteUnavailableError),
        (500, RemoteWriteUnavailableError),
        (503, RemoteWriteUnavailableError),
    ],
)
async def test_an_answer_says_whether_to_come_again(status: int, error: type[Exception]) -> None:
    async with HttpReceiver(status=status).serving() as there:
        with pytest.raises(error, match=str(status)):
            await to(there.url).write(message("cart", 1))


@pytest.mark.parametrize(
    ("said", "waits_s"),
    [
        ("7", 7),
        ("1e9", LONGEST_RETRY_S),
        ("-1", 0),
        ("nan", 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0),
    ],
)
async def test_what_the_receiver_asks_for_is_known(said: str, waits_s: float) -> None:
    async with HttpReceiver(status=503, headers={"Retry-After": said}).serving() as there:
        with pytest.raises(RemoteWriteUnavailableError) as caught:
            await to(there.url).write(message("cart", 1))
    assert caught.value.retry_after_s == waits_s


async def test_nobody_there_is_no_end() -> None:
    async with HttpReceiver().serving() as there:
        url = there.url
    with pytest.raises(RemoteWriteUnavailableError, match="does not answer: Connection refused"):
        await to(url).write(message("cart", 1))


async def test_headers_are_those_of_the_specification(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    async with HttpReceiver().serving() as there:
        await to(there.url, remote_write_tenant="team-a").write(message("a", 1))
        await to(there.url, remote_write_token_file=str(secret)).write(message("b", 1))
        await to(there.url, remote_write_user="anna", remote_write_password_file=str(secret)).write(
            message("c", 1)
        )
    plain, bearer, basic = there.asked
    assert plain["Content-Type"] == "application/x-protobuf"
    assert plain["Content-Encoding"] == "snappy"
    assert plain["X-Prometheus-Remote-Write-Version"] == "0.1.0"
    assert plain["X-Scope-OrgID"] == "team-a"
    assert "Authorization" not in plain
    assert bearer["Authorization"] == "Bearer s3cret"
    assert basic["Authorization"] == "Basic YW5uYTpzM2NyZXQ="


async def test_a_secret_that_comes_back_in_an_answer_is_not_shown(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    async with HttpReceiver(status=401, said="no s3cret \x1b[2J here").serving() as there:
        with pytest.raises(RemoteWriteRefusedError) as caught:
            await to(there.url, remote_write_token_file=str(secret)).write(message("a", 1))
    assert "s3cret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    # Of a password also what the header makes of it.
    async with HttpReceiver(status=401, said="no Basic YW5uYTpzM2NyZXQ= here").serving() as there:
        anna = to(there.url, remote_write_user="anna", remote_write_password_file=str(secret))
        with pytest.raises(RemoteWriteRefusedError, match=r"no Basic .* here") as caught:
            await anna.write(message("a", 1))
    assert "YW5uYTpzM2NyZXQ=" not in str(caught.value)
    missing = replace(to(there.url), account=to(there.url, remote_write_token_file="/none").account)
    with pytest.raises(RemoteWriteUnavailableError, match="/none"):
        await missing.write(message("a", 1))


async def test_both_ends_may_want_certificates(tmp_path: Path) -> None:
    authority, files = Authority("theirs"), {}
    server, client = authority.server("127.0.0.1"), authority.client("nemutator")
    for name, content in {
        "ca": authority.certificate,
        "server": server.both,
        "certificate": client.certificate,
        "key": client.key,
    }.items():
        files[name] = tmp_path / name
        files[name].write_text(content)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(files["ca"]))
    context.load_cert_chain(files["server"])
    context.verify_mode = ssl.CERT_REQUIRED
    async with HttpReceiver().serving(ssl_context=context) as there:
        trusted = {"remote_write_ca_file": str(files["ca"])}
        both = {name: str(files[name]) for name in ("certificate", "key")}
        ours = {f"remote_write_{name}_file": file for name, file in both.items()}
        await to(there.url, **trusted, **ours).write(message("cart", 1))
        for wrong in ({}, trusted, {**trusted, **ours, "remote_write_key_file": "/none"}):
            with pytest.raises(RemoteWriteUnavailableError):
                await to(there.url, **wrong).write(message("other", 1))
    assert list(there.values(NAME, owner="cart").values()) == [1.0]
    assert len(there.kept) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"remote_write": "http://far.example/w", "remote_write_token_file": "/t"},
        {"remote_write": "https://a/w", "remote_write_user": "anna"},
        {"remote_write": "https://a/w", "remote_write_password_file": "/p"},
        {
            "remote_write": "https://a/w",
            "remote_write_token_file": "/t",
            "remote_write_user": "u",
            "remote_write_password_file": "/p",
        },
        {"remote_write": "https://a/w", "remote_write_key_file": "/k"},
    ],
)
def test_settings_that_contradict_each_other_are_a_message(settings: dict[str, str]) -> None:
    with pytest.raises(OperatorError, match="remote_write"):
        remote_write(BrainSettings(**settings), fake_process())  # type: ignore[arg-type]


def test_nothing_is_sent_without_a_receiver() -> None:
    assert remote_write(BrainSettings(), fake_process()) is None
    assert math.isfinite(LONGEST_RETRY_S)
