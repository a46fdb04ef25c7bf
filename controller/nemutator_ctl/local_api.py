"""Speaks HTTP to the processes of one data directory, over their unix sockets.

On the standard library's client, because a command asks once and should answer at once: importing
an asynchronous one takes longer than the rest of the command.
"""

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from nemutator_ctl.answers import not_understood
from nemutator_ctl.terminal_text import visible

LARGEST_ANSWER = 64 << 20
"""Thousands of nodes with all of their processes; more is not ours."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


class LocalApi:
    """A process of *directory*, the brain by default, asked with the link token that lies there.

    Every failure is an `OperatorError` for whoever typed the command.
    """

    def __init__(
        self, directory: DataDirectory, *, role: str = names.BRAIN, timeout_s: float = 10.0
    ) -> None:
        self._directory = directory
        self._role = role
        self._timeout_s = timeout_s

    def get(self, path: str, query: Mapping[str, str] | None = None) -> object:
        return self._json("GET", _target(path, query))

    def post(
        self, path: str, document: object = None, *, query: Mapping[str, str] | None = None
    ) -> object:
        return self._json("POST", _target(path, query), document)

    def put(self, path: str, document: object) -> object:
        return self._json("PUT", path, document)

    def content(self, path: str) -> bytes:
        """What is no document: a file, as it is."""
        answer = self._answer("GET", path, None)
        if answer.status not in (http.client.OK, http.client.ACCEPTED):
            raise _refusal(answer.status, _document(answer))
        return answer.body

    def _json(self, method: str, target: str, given: object = None) -> object:
        answer = self._answer(method, target, given)
        document = _document(answer)
        if answer.status not in (http.client.OK, http.client.ACCEPTED, http.client.CREATED):
            raise _refusal(answer.status, document)
        return document

    def _answer(self, method: str, target: str, given: object) -> Answer:
        where = self._directory.socket(self._role)
        body = None if given is None else json.dumps(given).encode()
        try:
            return ask(
                where, method, target, body=body, timeout_s=self._timeout_s, of=self._directory
            )
        except (FileNotFoundError, ConnectionRefusedError) as error:
            # No socket, one that nobody serves, or no token: `up` has made none of them.
            raise _not_running(self._directory, self._role, error) from error
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise OperatorError(
                f"{self._role} does not answer on {where}: {why}",
                remedy="look at the messages of `nemutator up`, and whether this user may enter"
                " its directory",
                code=ExitCode.UNREACHABLE,
            ) from error


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _document(answer: Answer) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise not_understood("it is not JSON") from error


def ask(
    where: Path,
    method: str,
    target: str,
    *,
    timeout_s: float,
    body: bytes | None = None,
    of: DataDirectory | None = None,
) -> Answer:
    """One request; with the link token of a data directory when it is *of* one."""
    connection = _UnixConnection(where, timeout_s)
    try:
        # The token is read once somebody listens: without a controller there may be none.
        connection.connect()
        headers = {"Connection": "close"}
        if of is not None:
            token = Secret(of.link_token.read_text("ascii", errors="ignore").strip())
            headers["Authorization"] = f"Bearer {token.reveal()}"
        connection.request(method, target, body=body, headers=headers)
        response = connection.getresponse()
        content = response.read(LARGEST_ANSWER + 1)
    finally:
        connection.close()
    if len(content) > LARGEST_ANSWER:
        raise http.client.HTTPException(f"an answer larger than {LARGEST_ANSWER} bytes")
    return Answer(response.status, content)


def not_ready(where: Path) -> str | None:
    """Why the process that listens on *where* is not ready; None when it is."""
    try:
        answer = ask(where, "GET", "/readyz", timeout_s=0.5)
    except (OSError, http.client.HTTPException):
        return "it does not answer yet"
    if answer.status == http.client.OK:
        return None
    return visible("; ".join(answer.body.decode(errors="replace").splitlines()), limit=200)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, where: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._where = where

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._where))


def _not_running(directory: DataDirectory, role: str, error: OSError) -> OperatorError:
    missing = Path(str(error.filename)).name if error.filename else f"{role}.sock"
    return OperatorError(
        f"no nemutator runs on {directory.root}: {missing}: {error.strerror}",
        remedy="start it with `nemutator up`, or name its directory with --data-dir",
        code=ExitCode.UNREACHABLE,
    )


def _refusal(status: int, document: object) -> OperatorError:
    said = document if isinstance(document, Mapping) else {}
    what = visible(str(said.get("error", "no reason given")), limit=300)
    remedy = visible(str(said.get("remedy", "see the controller's own log")), limit=300)
    if status == http.client.BAD_REQUEST:
        return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)
    if status in (http.client.NOT_FOUND, http.client.CONFLICT, http.client.TOO_MANY_REQUESTS):
        return OperatorError(what, remedy=remedy, code=ExitCode.FAILED)
    return OperatorError(
        f"the controller answers {status}: {what}", remedy=remedy, code=ExitCode.UNREACHABLE
    )
