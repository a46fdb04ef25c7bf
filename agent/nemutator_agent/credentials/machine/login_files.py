"""The files that a machine without Kubernetes logs in to Vault with: read with suspicion, never shown."""

import asyncio
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.failures import LoginFileError
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken, LoginProof

LARGEST_BYTES = 16 << 10
"""Tokens have some hundred bytes, those of a signed kind a few thousand."""

OTHERS_READ = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class AppRoleFiles:
    role_id: Secret
    secret_id_file: Path
    wrapping_path: str

    async def proof(self) -> LoginProof:
        secret_id = await asyncio.to_thread(private_word, self.secret_id_file, "a secret id")
        return AppRole(role_id=self.role_id, secret_id=secret_id, wrapping_path=self.wrapping_path)


@dataclass(frozen=True, slots=True)
class TokenFile:
    path: Path

    async def proof(self) -> LoginProof:
        return GivenToken(await asyncio.to_thread(private_word, self.path, "a token of Vault"))


def private_word(path: Path, what: str, *, secret: bool = True) -> Secret:
    """The one word in a file; a LoginFileError where it is none, or where others could have written it, or,
    if it is a *secret*, could read it."""
    try:
        # Not to wait for whoever has a pipe in its place.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            _check(path, os.fstat(file), OTHERS_READ if secret else OTHERS_WRITE)
            content = os.read(file, LARGEST_BYTES + 1)
        finally:
            os.close(file)
    except FileNotFoundError:
        raise LoginFileError(
            f"{path} is not there", f"write {what} to it, with mode 0400"
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise LoginFileError(f"{path}: {why}", "let the agent's user read it") from None
    try:
        word = content.strip().decode("ascii")
    except UnicodeDecodeError:
        word = " "
    if not word:
        raise LoginFileError(f"{path} is empty", f"write {what} to it")
    if len(content) > LARGEST_BYTES or not word.isprintable() or " " in word:
        raise LoginFileError(
            f"{path} does not hold one word", f"write {what} to it, and nothing else"
        )
    return Secret(word)


def _check(path: Path, found: os.stat_result, forbidden: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise LoginFileError(f"{path} is no file", "name a regular file")
    if found.st_uid not in (0, os.geteuid()):
        raise LoginFileError(
            f"{path} belongs to uid {found.st_uid}",
            f"give it to root or to uid {os.geteuid()}, as whom the agent runs",
        )
    if found.st_mode & forbidden:
        verb = "write" if forbidden == OTHERS_WRITE else "read"
        raise LoginFileError(
            f"{path} has mode {stat.S_IMODE(found.st_mode):04o}: others may {verb} it",
            f"`chmod {'go-w' if forbidden == OTHERS_WRITE else '0400'} {path}`; if it is a secret that "
            "others may have read, make another one",
        )
