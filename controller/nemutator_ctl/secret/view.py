"""What the store of secrets answers, as typed values and for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from nemutator_common.declarations import is_name
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from nemutator_ctl.answers import Listing, understood
from nemutator_ctl.tables import Column, table

STORE_PATH = "/v1/store/secrets"

LARGEST_BYTES = 64 << 10
"""What the store takes: more is not even sent."""

LAYOUT = (
    Column("NAME"),
    Column("VERSION", right=True),
    Column("FOR", limit=100),
    Column("IN VAULT", limit=100),
)

NOTHING = "There are no secrets yet: `nemutator secret set NAME` makes one.\n"


@dataclass(frozen=True, slots=True)
class SecretRow:
    name: str
    version: int
    rules: tuple[str, ...]
    file: str = ""
    """Its path, when it is kept in a file, too."""
    vault: str = ""
    """Where Vault has it, when no value is kept."""


@dataclass(frozen=True, slots=True)
class _ShownValue:
    value: str


def path_of(name: str) -> str:
    """Where the secret *name* is asked for; an `OperatorError` when it cannot be a name."""
    if not is_name(name):
        raise OperatorError(
            f"{name[:100]!r} cannot name a secret",
            remedy="use letters, digits, dots, dashes and underscores, at most 63",
            code=ExitCode.USAGE,
        )
    return f"{STORE_PATH}/{quote(name, safe='')}"


def value_from(given: bytes) -> Secret:
    """The value in what was typed or piped: text, without the newline that ends the last line."""
    if len(given) > LARGEST_BYTES:
        raise _bad(
            f"the value has more than {LARGEST_BYTES} bytes",
            "keep it in a file, encrypted, and its key here",
        )
    try:
        text = given.decode()
    except UnicodeDecodeError:
        raise _bad("the value is not text in UTF-8", "write it as text, as base64 does") from None
    text = text.removesuffix("\n")
    if not text:
        raise _bad("the value is empty", "give it on standard input, or at the prompt")
    return Secret(text)


def rows(document: object) -> tuple[SecretRow, ...]:
    """The rows of a list; an `OperatorError` when *document* is not one."""
    return understood(document, Listing[SecretRow], "a list of secrets").items


def row(document: object) -> SecretRow:
    """The row of one secret; its value is not read."""
    return understood(document, SecretRow, "a secret")


def open_rules(rules: Sequence[str]) -> tuple[str, ...]:
    """The rules that name a program and neither a user nor a control group."""
    return tuple(
        rule
        for rule in rules
        if rule.startswith("exe=") and ",uid=" not in rule and ",cgroup=" not in rule
    )


def value(document: object) -> Secret:
    return Secret(understood(document, _ShownValue, "a secret with its value").value)


def view(found: Sequence[SecretRow]) -> str:
    if not found:
        return NOTHING
    lines = [(row.name, str(row.version), " or ".join(row.rules), row.vault) for row in found]
    if not any(row.vault for row in found):
        return table(LAYOUT[:-1], [line[:-1] for line in lines])
    return table(LAYOUT, lines)


def _bad(what: str, remedy: str) -> OperatorError:
    return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)
