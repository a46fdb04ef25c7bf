"""The secrets of a machine without Vault, and who may have them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.declarations import Reference, is_name, parse_reference
from nemutator_common.secret import Secret

from nemutator_agent.identity.rules import CallerRule, parse_rule

MOST = 256
MOST_RULES = 16
LARGEST_BYTES = 64 << 10
"""Of one value: keys, certificates and passwords are far smaller."""


class StoredSecretError(ValueError):
    """The secret cannot be stored as it is; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSecret:
    value: Secret | Reference
    """The value itself, or where Vault has it."""
    version: int
    """It is 1 at first, and one more after each change."""
    changed_at: float
    rules: tuple[CallerRule, ...]
    """One of them must hold for a caller."""
    in_file: bool = False
    """Whether its value is kept in a file, too."""


def checked_rules(texts: Sequence[str]) -> tuple[CallerRule, ...]:
    if len(texts) > MOST_RULES:
        raise StoredSecretError(f"more than {MOST_RULES} rules")
    try:
        return tuple(parse_rule(text) for text in texts)
    except ValueError as error:
        raise StoredSecretError(str(error)) from None


def changed(
    secrets: Mapping[str, StoredSecret],
    name: str,
    value: Secret | Reference,
    *,
    rules: tuple[CallerRule, ...],
    owner: int,
    in_file: bool | None,
    at: float,
) -> dict[str, StoredSecret]:
    """All secrets, with a new version of *name*. Without *rules* it keeps those that it has; a new
    secret is then for *owner*, the uid that sets it. With None for *in_file* that stays as it is."""
    if not is_name(name):
        raise StoredSecretError(
            "a name has letters, digits, dots, dashes and underscores, at most 63"
        )
    if isinstance(value, Secret) and len(value.reveal().encode()) > LARGEST_BYTES:
        raise StoredSecretError(f"a value has at most {LARGEST_BYTES} bytes")
    before = secrets.get(name)
    if before is None and len(secrets) >= MOST:
        raise StoredSecretError(f"there are {MOST} secrets already, which is the most")
    made = StoredSecret(
        value=value,
        version=before.version + 1 if before else 1,
        changed_at=at,
        rules=rules or (before.rules if before else (CallerRule(uid=owner),)),
        in_file=before is not None and before.in_file if in_file is None else in_file,
    )
    if made.in_file:
        if isinstance(value, Reference):
            raise StoredSecretError(
                "a secret of Vault is not kept in a file: read it from the socket, or with `nemutator exec`"
            )
        file_owner(made.rules)
    return {**secrets, name: made}


def file_owner(rules: tuple[CallerRule, ...]) -> int:
    """The user whom a file of a secret with these *rules* is for; a `StoredSecretError` when a file
    could not hold them, because a file knows users and neither programs nor control groups."""
    match rules:
        case (CallerRule(uid=int() as uid, executable=None, cgroup=None),):
            return uid
    raise StoredSecretError(
        "a file is for one user: the secret must have one rule, with uid= alone"
    )


def encode(secrets: Mapping[str, StoredSecret]) -> bytes:
    """The plain content of the file, which must not be written anywhere before it is sealed."""
    return json.dumps(
        {
            name: {
                **_encoded(stored.value),
                "version": stored.version,
                "changed_at": stored.changed_at,
                "rules": [str(rule) for rule in stored.rules],
                "in_file": stored.in_file,
            }
            for name, stored in sorted(secrets.items())
        }
    ).encode()


def _encoded(value: Secret | Reference) -> dict[str, str]:
    return {"vault": str(value)} if isinstance(value, Reference) else {"value": value.reveal()}


def decode(plain: bytes) -> dict[str, StoredSecret]:
    """The secrets that `encode` wrote; a ValueError for any other content."""
    try:
        return {
            name: StoredSecret(
                value=parse_reference(fields["vault"])
                if "vault" in fields
                else Secret(fields["value"]),
                version=int(fields["version"]),
                changed_at=float(fields["changed_at"]),
                rules=tuple(parse_rule(text) for text in fields["rules"]),
                # A store of version 0.1.0 has no files.
                in_file=bool(fields.get("in_file", False)),
            )
            for name, fields in json.loads(plain).items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"these are not stored secrets: {type(error).__name__}") from None
