"""The credentials process as mount sees it: a fake, and a real socket with answers good and bad."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_agent.mount.credentials_socket import CredentialsSocket
from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.ports import Credentials
from nemutator_agent.publications import Publication, PublishedPod, VolumeDirectory

from tests.fakes.mounting import FakeCredentials

PUBLICATION = Publication(
    pod=PublishedPod("shop", "web-1", "0a1b2c3d-0000-4111-8222-333344445555", "web"),
    directory=VolumeDirectory("/volumes/csi-1", 50, 1),
    attributes={"secret.db": "secret/app/db#pässword"},
    tokens={"vault": "very.secret.token"},
)


class Served:
    """A socket with a fake behind it, by the words of publications.py."""

    def __init__(self, fake: FakeCredentials) -> None:
        self.fake = fake
        self.instead: bytes | None = None
        """What it answers to everything; empty: nothing, and it keeps the connection."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, path, _ = head.split("\r\n")[0].split()
            length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
            body = await reader.readexactly(length)
            if self.instead == b"":
                await reader.read()
                return
            writer.write(self.instead or await self._answer(method, path, body))
            await writer.drain()

    async def _answer(self, method: str, path: str, body: bytes) -> bytes:
        volume = path.rsplit("/", 1)[1]
        try:
            match method, path:
                case "GET", "/v1/instance":
                    body = json.dumps({"id": await self.fake.instance()}).encode()
                    return b"HTTP/1.1 200 OK\r\n\r\n" + body
                case "PUT", "/v1/publications/csi-1":
                    given = json.loads(body)
                    given["pod"] = PublishedPod(**given["pod"])
                    given["directory"] = VolumeDirectory(**given["directory"])
                    await self.fake.publish(volume, Publication(**given))
                case "DELETE", "/v1/publications/csi-1":
                    await self.fake.unpublish(volume)
                case _:
                    return b"HTTP/1.1 404 Not Found\r\n\r\n"
        except CredentialsRefusedError:
            return b'HTTP/1.1 400 Bad Request\r\n\r\n{"error": "not like this"}'
        return b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture
def fake() -> FakeCredentials:
    return FakeCredentials()


@pytest.fixture
async def served(fake: FakeCredentials, tmp_path: Path) -> AsyncIterator[Served]:
    served = Served(fake)
    # A path of pytest's may be longer than an address can be.
    with contextlib.chdir(tmp_path):
        async with await asyncio.start_unix_server(served.serve, "c.sock"):
            yield served


@pytest.fixture(params=["fake", "socket"])
def credentials(
    request: pytest.FixtureRequest, fake: FakeCredentials, served: Served
) -> Credentials:
    return fake if request.param == "fake" else CredentialsSocket(Path("c.sock"))


async def test_a_publication_arrives_as_it_is(
    credentials: Credentials, fake: FakeCredentials
) -> None:
    await credentials.publish("csi-1", PUBLICATION)
    assert fake.known == {"csi-1": PUBLICATION}
    await credentials.unpublish("csi-1")
    assert fake.known == {}


async def test_another_life_has_another_name(
    credentials: Credentials, fake: FakeCredentials
) -> None:
    first = await credentials.instance()
    assert await credentials.instance() == first
    fake.restart()
    assert await credentials.instance() != first


async def test_what_is_refused_is_told_from_no_answer(
    credentials: Credentials, fake: FakeCredentials
) -> None:
    fake.refuses = {"csi-1"}
    with pytest.raises(CredentialsRefusedError):
        await credentials.publish("csi-1", PUBLICATION)


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\n\r\n{"id": 1}',
        b'HTTP/1.1 500 Oops\r\n\r\n{"id": "a"}',
        b"HTTP/1.1 204 No Content\r\n\r\n" + b"x" * 100_000,
    ],
)
async def test_a_bad_answer_is_none(served: Served, answer: bytes) -> None:
    served.instead = answer
    with pytest.raises(CredentialsUnavailableError, match="remedy"):
        await CredentialsSocket(Path("c.sock")).instance()


async def test_a_refusal_says_why_and_never_shows_a_token(served: Served) -> None:
    served.fake.refuses = {"csi-1"}
    with pytest.raises(CredentialsRefusedError, match="not like this") as refused:
        await CredentialsSocket(Path("c.sock")).publish("csi-1", PUBLICATION)
    assert "very.secret" not in str(refused.value)


async def test_silence_has_an_end(served: Served) -> None:
    served.instead = b""
    with pytest.raises(CredentialsUnavailableError, match=r"no answer within 0\.05 s"):
        await CredentialsSocket(Path("c.sock"), call_s=0.05).instance()


async def test_nobody_there_is_said_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(CredentialsUnavailableError, match=r"No such file.*nobody"):
        await CredentialsSocket(tmp_path / "nobody").instance()
