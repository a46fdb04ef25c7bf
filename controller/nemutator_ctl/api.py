"""Asks a process of ours for documents, whichever way it is reached; a refusal becomes a message."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar
from urllib.parse import urlencode

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.answers import not_understood
from nemutator_ctl.terminal_text import visible

_GOOD = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED})
_NO = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(frozen=True, slots=True)
class ApiResponse:
    status: int
    body: bytes


class Api(ABC):
    """Every failure is an `OperatorError` for the person who typed the command."""

    signing_in: ClassVar[str]
    """What a browser needs before it may open this brain's page."""

    def get(self, path: str, query: Mapping[str, str] | None = None) -> object:
        return self._document("GET", _target(path, query))

    def post(
        self, path: str, document: object = None, *, query: Mapping[str, str] | None = None
    ) -> object:
        return self._document("POST", _target(path, query), document)

    def put(self, path: str, document: object) -> object:
        return self._document("PUT", path, document)

    def delete(self, path: str) -> object:
        return self._document("DELETE", path)

    def content(self, path: str) -> bytes:
        """A file, as it is."""
        response = self._ask("GET", path, None)
        if response.status not in _GOOD:
            raise _refusal(response.status, _decoded(response))
        return response.body

    def _document(self, method: str, target: str, given: object = None) -> object:
        response = self._ask(method, target, None if given is None else json.dumps(given).encode())
        document = _decoded(response)
        if response.status not in _GOOD:
            raise _refusal(response.status, document)
        return document

    @abstractmethod
    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        """The response, whatever it says; an `OperatorError` when there is none."""


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _decoded(response: ApiResponse) -> object:
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise not_understood("it is not JSON") from error


def _refusal(status: int, document: object) -> OperatorError:
    given = document if isinstance(document, Mapping) else {}
    what = visible(str(given.get("error", "no reason given")), limit=300)
    remedy = visible(str(given.get("remedy", "see the controller's own log")), limit=300)
    if status == HTTPStatus.BAD_REQUEST:
        return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)
    if status == HTTPStatus.INSUFFICIENT_STORAGE:
        return OperatorError(what, remedy=remedy, code=ExitCode.NO_SPACE)
    if status in _NO:
        return OperatorError(what, remedy=remedy, code=ExitCode.FAILED)
    return OperatorError(
        f"the controller answers {status}: {what}", remedy=remedy, code=ExitCode.UNREACHABLE
    )
