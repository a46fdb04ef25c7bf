"""The answers to callers that do not get what they ask for: the step that failed, and what to do."""

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from math import ceil

from nemutator_common import names
from nemutator_common.declarations import DeclarationError, Reference

from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    NoAccountTokenError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.identity.failures import AttestationError

RETRY_AFTER_S = 5
MOST_NAMES = 64
LONGEST_NAME = 100

_OUTAGES: Mapping[str, str] = {
    "sealed": "unseal it (`vault operator unseal`); nothing has to be done here",
    "busy": "it has more to do than it can: ask again later",
    "unsettled": "see whether Vault reaches the API server and may review tokens there; if others log in, "
    f"see that the role is for this service account and the audience {names.VAULT_AUDIENCE}",
    "crowded": "ask again: this node asks Vault for more than it can at once",
    "tls": "give the agent the certificate authority of Vault (credentials.vault_ca_file)",
    "malformed": "let credentials.vault_address name a Vault, and no proxy that answers for it",
}
_WAIT = "see whether Vault runs and whether this node reaches it; ask again later"
_WITHOUT_DATA = (
    "leave data/ out of the reference, as in `vault kv get`; only a policy names it. If the secret is "
    "really called so, give the role a policy that may read it"
)

IN_POD = f"Another one needs an annotation {names.SECRET_PREFIX}<name> on the pod"
_ASK = "ask GET /v1/whoami, /v1/declared, /v1/secret/<name>, /v1/env or /v1/watch"
_EXAMPLE = "ask as `curl --unix-socket agent.sock http://nemutator/v1/secret/<name>` does"

UNHANDLED: Mapping[int, Mapping[str, str]] = {
    400: {"step": "request", "remedy": _EXAMPLE},
    404: {"step": "path", "error": "there is nothing at this path", "remedy": _ASK},
    405: {"step": "method", "error": "only GET is answered here", "remedy": _ASK},
    408: {"step": "request", "remedy": "send the whole request at once"},
    413: {
        "step": "request",
        "error": "a body of this size is not taken here",
        "remedy": f"{_ASK}; as a client of Vault send 64 KiB at most",
    },
    429: {
        "step": "connections",
        "error": "this caller has too many connections, or everybody together",
        "remedy": "close some, ask again on one that is open, or later",
    },
    431: {"step": "request", "remedy": _EXAMPLE},
    500: {"step": "agent", "remedy": "look for this request in the log of the agent"},
    503: {"step": "time", "remedy": "read the answer as it comes, or ask again later"},
}
"""By status, the answers to requests that do not reach a handler."""


@dataclass(eq=False)
class HttpRefusal(Exception):  # noqa: N818 - an answer, not a failure
    """An answer that refuses."""

    status: int
    error: str
    _: KW_ONLY
    remedy: str
    step: str
    retry_after_s: int | None = None

    def __str__(self) -> str:
        return self.error


def not_attested(refused: AttestationError) -> HttpRefusal:
    if refused.step == "start":
        return HttpRefusal(
            503,
            f"this caller is not let in yet: {refused.why}",
            remedy="connect again in a moment (`curl --retry 3`); from Linux 6.5 on the kernel says which "
            "process has connected, and nobody has to wait",
            step=refused.step,
            retry_after_s=1,
        )
    return HttpRefusal(
        403,
        f"this caller is not let in: {refused.why}",
        remedy="call from a process of the pod that this socket was mounted into"
        if refused.step != "rule"
        else "let the owner of the secret name this caller in a rule: `nemutator secret set`",
        step=refused.step,
    )


def too_many() -> HttpRefusal:
    return HttpRefusal(
        429,
        "this caller asks too often",
        remedy="keep what was read, and ask again when it may have changed",
        step="rate",
        retry_after_s=1,
    )


def too_large(variable: str, most: int) -> HttpRefusal:
    return HttpRefusal(
        400,
        f"with variable {variable!r} all of them have more than {most >> 10} KiB together",
        remedy="declare single keys (`path#key`), or ask for large ones as secrets",
        step="size",
    )


def files_too_large(most: int) -> HttpRefusal:
    return HttpRefusal(
        400,
        f"all files of a pod may have {most >> 10} KiB together",
        remedy="declare single keys (`path#key`), or fewer secrets",
        step="size",
    )


def files_not_written(why: str) -> HttpRefusal:
    return HttpRefusal(
        503,
        f"the files cannot be written into the pod's volume: {why}",
        remedy="take away what else is in the volume: it has 1 MiB",
        step="disk",
        retry_after_s=1,
    )


def no_room(most: int) -> HttpRefusal:
    return HttpRefusal(
        503,
        f"the files of all pods of this node have {most >> 20} MiB already",
        remedy="declare single keys (`path#key`), or let large ones be read from the socket",
        step="room",
        retry_after_s=5,
    )


def not_rendered(name: str, why: str) -> HttpRefusal:
    return HttpRefusal(
        400,
        f"file {name!r} cannot be written: {why}",
        remedy="declare it as json, or the value as a secret of its own",
        step="format",
    )


def no_variable(variable: str, why: str) -> HttpRefusal:
    return HttpRefusal(
        400,
        f"the value of variable {variable!r} {why}",
        remedy=f"declare it with {names.SECRET_PREFIX}<name>: a file may hold any bytes",
        step="variable",
    )


def faulty(error: DeclarationError) -> HttpRefusal:
    return HttpRefusal(
        400,
        f"what this pod declares cannot be understood: {error}",
        remedy="correct the annotations of the pod's template, and let the pod be made again",
        step="declaration",
    )


def undeclared(name: str, declared: Collection[str], *, how: str = IN_POD) -> HttpRefusal:
    return HttpRefusal(
        404,
        f"there is no secret {name[:100]!r} for this caller",
        remedy=f"declared are: {_listed(declared)}. {how}",
        step="declaration",
    )


def without_key(reference: Reference, keys: Collection[str]) -> HttpRefusal:
    return HttpRefusal(
        404,
        f"{reference.path} has no key {reference.key!r}",
        remedy=f"its keys are: {_listed(keys)}",
        step="key",
    )


def of_vault(error: VaultError, *, account: Account, path: str, auth_mount: str) -> HttpRefusal:
    """The answer to the pod of *account*, for which Vault failed with *error* to read *path*."""
    pod, role = account.pod, account.role
    match error:
        case VaultUnavailableError():
            return HttpRefusal(
                503,
                f"Vault cannot be asked: {error.why}",
                remedy=_OUTAGES.get(error.reason, _WAIT),
                step="vault",
                retry_after_s=RETRY_AFTER_S
                if error.retry_after_s is None
                else max(1, ceil(error.retry_after_s)),
            )
        case NoAccountTokenError():
            return HttpRefusal(
                503,
                f"the agent cannot log in as this pod yet: {error.why}",
                remedy="kubelet brings a token within two minutes; if it does not, the CSIDriver "
                f"object lacks tokenRequests with the audience {names.VAULT_AUDIENCE}",
                step="token",
                retry_after_s=RETRY_AFTER_S,
            )
        case LoginRefusedError():
            return HttpRefusal(
                403,
                f"Vault refuses the login with role {role!r}: {error.why}",
                remedy=f"make the role auth/{auth_mount}/role/{role} in Vault, for the service "
                f"account {pod.service_account} in namespace {pod.namespace} and the audience "
                f"{names.VAULT_AUDIENCE}{_in_namespace(account)}; or name another role with "
                f"{names.VAULT_ROLE}",
                step="login",
            )
        case VaultDeniedError() | TokenGoneError():
            return HttpRefusal(
                403,
                f"Vault denies {path} to role {role!r}: {error.why}",
                remedy=_WITHOUT_DATA if _has_data(path) else _policy_for(path),
                step="vault",
            )
        case SecretMissingError():
            return HttpRefusal(
                404,
                f"Vault has nothing at {path}: {error.why}",
                remedy=_WITHOUT_DATA
                if _has_data(path)
                else "write it, or correct the reference that the pod declares",
                step="vault",
            )
        case UnsupportedSecretError():
            return HttpRefusal(
                400,
                f"{path} cannot be handed out: {error.why}",
                remedy="refer to a secret that can be read and lasts, of at most 256 KiB; what else Vault makes is "
                "for its own clients",
                step="vault",
            )
        case _:
            raise error


def _in_namespace(account: Account) -> str:
    one = account.vault_namespace
    return f", in Vault's namespace {one} ({names.VAULT_NAMESPACE})" if one else ""


def _listed(those: Collection[str]) -> str:
    """The first of *those* on one line; they may be any text, because people chose them in Vault."""
    first = sorted(those)[:MOST_NAMES]
    plain = [
        one if one.isprintable() and len(one) <= LONGEST_NAME else repr(one[:LONGEST_NAME])
        for one in first
    ]
    return ", ".join(plain) or "nothing"


def _policy_for(path: str) -> str:
    where, issued, _ = path.partition("?")
    if issued:
        return f"give the role a policy with the capability update for {where}"
    return (
        f"give the role a policy that may read {path} (of KV version 2, the path with data/ behind "
        "the mount)"
    )


def _has_data(path: str) -> bool:
    """The API of KV version 2 has data/ in its paths, so people who know the API write it."""
    return path.split("/")[1] == "data"
