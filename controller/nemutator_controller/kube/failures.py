"""What can go wrong with a request to the API server, distinguished by what its caller should do.

`retry` is the behaviour: the same request may succeed later (`UnavailableError`,
`TooManyRequestsError`), or somebody must change something first. Each message says what was asked
(`list pods in namespace team-a`) before what was answered.
"""

import msgspec

LONGEST_MESSAGE = 300
"""Characters kept of what a server said: it may quote a whole object back at us."""


class KubeError(Exception):
    """A request that did not succeed, and *said*, the reason."""

    retry = False

    def __init__(self, asked: str, said: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(f"{asked}: {said}")
        self.asked = asked
        self.said = said
        self.retry_after_s = retry_after_s


class UnavailableError(KubeError):
    """The server cannot be reached, is not ready, or did not answer in time."""

    retry = True


class TooManyRequestsError(KubeError):
    """Priority and fairness: come back after `retry_after_s`."""

    retry = True


class UntrustedError(KubeError):
    """The server's certificate is not signed by the CA that we were given."""


class UnauthorizedError(KubeError):
    """The credentials are not accepted, and fresh ones were not accepted either."""


class ForbiddenError(KubeError):
    """The permission named in `asked` is missing."""


class NotFoundError(KubeError):
    """No such object."""


class UnknownResourceError(KubeError):
    """No such resource: the API group or its version is not served."""


class AlreadyExistsError(KubeError):
    """An object of this name is there already."""


class ConflictError(KubeError):
    """Somebody else changed the object, or owns the field."""


class GoneError(KubeError):
    """The version is too old to go on from: list again."""


class InvalidError(KubeError):
    """The server understood and refuses, for a reason that asking again does not change."""


class DisruptionBudgetError(KubeError):
    """An eviction that a PodDisruptionBudget does not allow now."""


class Cause(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    kind: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: float = 0


class Status(msgspec.Struct, frozen=True):
    """What the server answers instead of an object: `kind: Status`."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: Details | None = None


_STATUS = msgspec.json.Decoder(Status)

_NOTHING = Details()
_TOO_LARGE = "etcdserver: request is too large"

_BY_REASON: dict[str, type[KubeError]] = {
    "AlreadyExists": AlreadyExistsError,
    "Expired": GoneError,
    "Gone": GoneError,
    "ServerTimeout": UnavailableError,
    "Timeout": UnavailableError,
}
_BY_CODE: dict[int, type[KubeError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    408: UnavailableError,
    409: ConflictError,
    410: GoneError,
    429: TooManyRequestsError,
}


def from_answer(asked: str, code: int, body: bytes, retry_after: str = "") -> KubeError:
    """The error that an answer with HTTP status *code* means; *retry_after* is its header."""
    try:
        status = _STATUS.decode(body)
    except msgspec.DecodeError:
        status = Status(message=body[:LONGEST_MESSAGE].decode(errors="replace"))
        if code == 404:
            # About an object the server answers with a Status, about an unknown path with text.
            return UnknownResourceError(asked, "the server does not serve this API")
    return from_status(asked, status, code=code, retry_after_s=_seconds(retry_after))


def from_status(
    asked: str, status: Status, *, code: int = 0, retry_after_s: float = 0.0
) -> KubeError:
    """The error that a `Status` means, be it an answer's body or an ERROR event's object."""
    code = code or status.code
    details = status.details or Details()
    said = (status.message or status.reason or "no reason given")[:LONGEST_MESSAGE]
    kind = _BY_REASON.get(status.reason) or _BY_CODE.get(code)
    if kind is NotFoundError and status.details == _NOTHING:
        # For an object that is not there, the details say which one it is.
        kind = UnknownResourceError
    if _TOO_LARGE in status.message:
        # This is etcd's refusal, a 500 without a reason. Waiting makes the object no smaller.
        kind = InvalidError
    if kind is None:
        kind = UnavailableError if code >= 500 or code == 0 else InvalidError
    if kind is TooManyRequestsError and any(
        cause.reason == "DisruptionBudget" for cause in details.causes
    ):
        kind = DisruptionBudgetError
    return kind(
        asked,
        f"{code} {said}" if code else said,
        retry_after_s=max(retry_after_s, float(details.retry_after_seconds)),
    )


def _seconds(retry_after: str) -> float:
    """Kubernetes sends whole seconds; a proxy's HTTP date is not worth parsing."""
    return float(retry_after) if retry_after.isdecimal() and len(retry_after) <= 4 else 0.0
