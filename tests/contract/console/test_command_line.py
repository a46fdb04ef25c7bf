"""The commands that ask the brain of a cluster, before its console: over TLS, as whoever's token."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.kube.failures import UnavailableError
from nemutator_ctl.__main__ import main

from tests.certificates import Authority
from tests.fakes.consoles import StandingConsole, standing_console

TOKEN = "a.b.c"


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[StandingConsole]:
    async with standing_console(tmp_path) as console:
        console.reviews.knows(TOKEN, "anna")
        yield console


class Typed:
    """Commands, with what lets them in; and what they wrote."""

    def __init__(
        self, console: StandingConsole, folder: Path, captured: pytest.CaptureFixture[str]
    ) -> None:
        self._captured = captured
        self.token_file = folder / "token"
        self.token_file.write_text(f"{TOKEN}\n")
        self.ca_file = console.ca_file
        self.url = console.url

    async def __call__(self, *words: str) -> tuple[int, str]:
        options = ["--brain", self.url, "--brain-token-file", str(self.token_file)]
        options += ["--brain-ca-file", str(self.ca_file)]
        code = await asyncio.to_thread(main, [*words, *options])
        written = self._captured.readouterr()
        return code, written.out + written.err


@pytest.fixture
def typed(console: StandingConsole, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(console, tmp_path, capsys)


async def test_what_is_granted_is_shown(console: StandingConsole, typed: Typed) -> None:
    console.reviews.allowed |= {
        ("anna", "get", "topology", ""),
        ("anna", "get", "mutations", "team"),
    }
    code, said = await typed("topology")
    assert (code, "edge-1: kernel 6.1.0" in said) == (ExitCode.OK, True)
    code, said = await typed("mutations", "-n", "team", "-o", "json")
    assert code == ExitCode.OK
    assert [each["id"] for each in json.loads(said)["items"]] == ["d1"]
    code, said = await typed("mutations")
    assert code == ExitCode.UNREACHABLE
    assert "anna may not get mutations.nemutator.io\n  remedy: ask an administrator" in said


async def test_a_change_is_taken_back_by_whoever_may(
    console: StandingConsole, typed: Typed
) -> None:
    code, said = await typed("rollback", "d1", "--plan")
    assert "anna may not update mutations.nemutator.io" in said
    console.reviews.allowed.add(("anna", "update", "mutations", ""))
    typed.token_file.write_text("d.e.f")  # another, whose verdict was not asked for just now
    console.reviews.knows("d.e.f", "anna", pod="b")
    code, said = await typed("rollback", "d1", "--plan")
    assert (code, "metadata.labels[team]" in said) == (ExitCode.OK, True)
    await typed("rollback", "d1", "--yes")
    live = console.objects.living["Pod", "team", "web-1"]
    assert "labels" not in live.document["metadata"]


async def test_who_is_not_known_is_told_how_to_be(console: StandingConsole, typed: Typed) -> None:
    typed.token_file.write_text("x.y.z")
    code, said = await typed("topology")
    assert code == ExitCode.UNREACHABLE
    assert "the cluster does not know this token" in said
    assert "kubectl create token" in said
    console.reviews.broken = UnavailableError("create tokenreviews", "gone")
    typed.token_file.write_text("d.e.f")
    code, said = await typed("topology")
    assert (code, "cannot be identified now" in said) == (ExitCode.UNREACHABLE, True)


async def test_a_server_that_proves_nothing_gets_no_token(
    console: StandingConsole, typed: Typed, tmp_path: Path
) -> None:
    stranger = tmp_path / "stranger.crt"
    stranger.write_text(Authority("stranger").certificate)
    good, typed.ca_file = typed.ca_file, stranger
    code, said = await typed("topology")
    assert code == ExitCode.UNREACHABLE
    assert "does not prove who it is" in said
    assert "--brain-ca-file" in said
    typed.ca_file, typed.url = good, console.url.replace("localhost", "127.0.0.1")
    code, said = await typed("topology")
    assert (code, "server_names" in said) == (ExitCode.UNREACHABLE, True)
    assert console.reviews.asked == []


@pytest.mark.parametrize(
    ("url", "code", "what"),
    [
        ("https://localhost:1", ExitCode.UNREACHABLE, "Connection refused"),
        ("http://localhost:8420", ExitCode.USAGE, "over TLS only"),
        ("localhost:8420", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://:8420", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://localhost:x", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://localhost:99999", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://me:secret@localhost", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://localhost/api/v1", ExitCode.USAGE, "https://HOST:PORT"),
        ("https://[::1", ExitCode.USAGE, "https://HOST:PORT"),
    ],
)
async def test_an_address_that_leads_nowhere_is_named(
    typed: Typed, url: str, code: int, what: str
) -> None:
    typed.url = url
    ended, said = await typed("topology")
    assert (ended, what in said) == (code, True), said
    assert "secret" not in said


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"two words", b"-----BEGIN KEY-----\nx\n", b"\xff\x00", b"x" * 9_000]
)
async def test_what_is_no_token_is_never_sent(
    console: StandingConsole, typed: Typed, content: bytes
) -> None:
    typed.token_file.write_bytes(content)
    code, said = await typed("topology")
    assert (code, str(typed.token_file) in said) == (ExitCode.USAGE, True)
    assert "kubectl create token" in said
    assert console.reviews.asked == []


async def test_files_that_cannot_be_read_are_named(typed: Typed, tmp_path: Path) -> None:
    typed.ca_file = tmp_path / "token"
    code, said = await typed("topology")
    assert (code, "--brain-ca-file" in said) == (ExitCode.USAGE, True)
    typed.ca_file = tmp_path / "nothing"
    assert f"{typed.ca_file}: No such file" in (await typed("topology"))[1]
    typed.ca_file, typed.token_file = tmp_path / "ca.crt", tmp_path
    assert f"{tmp_path}: Is a directory" in (await typed("topology"))[1]


def test_a_brain_and_a_data_directory_are_not_named_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["topology", "--brain", "https://localhost", "--data-dir", "/tmp"])
    assert ended.value.code == ExitCode.USAGE
    assert "not allowed with" in capsys.readouterr().err


def test_a_brain_wants_to_know_who_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "--brain", "https://localhost"]) == ExitCode.USAGE
    assert "--brain-token-file" in capsys.readouterr().err


def test_a_directory_on_the_command_line_wins_over_a_brain_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[ctl]\nbrain = "https://localhost:1"\n')
    local = ["--config", str(file), "--data-dir", str(tmp_path / "data")]
    assert main(["topology", *local]) == ExitCode.UNREACHABLE
    assert "no nemutator runs on" in capsys.readouterr().err
    assert main(["topology", "--config", str(file)]) == ExitCode.USAGE
    assert "--brain-token-file" in capsys.readouterr().err
