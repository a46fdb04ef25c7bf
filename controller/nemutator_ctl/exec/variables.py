"""Which variable of the environment holds which secret, as the command line says it."""

import errno
from collections.abc import Mapping, Sequence

from nemutator_common.declarations import is_name, is_variable
from nemutator_common.errors import ExitCode, OperatorError

LONGEST_STRING = 128 << 10
"""Linux takes no longer string, name and zero byte included: MAX_ARG_STRLEN."""


_COERCED = "LC_CTYPE"


def wanted_variables(texts: Sequence[str]) -> dict[str, str]:
    """The secret of each variable; *texts* are like `DB_PASSWORD=db`."""
    wanted: dict[str, str] = {}
    for text in texts:
        variable, mark, secret = text.partition("=")
        if not mark or not is_variable(variable) or not is_name(secret):
            raise _wrong(
                f"--env {text[:100]!r} is not a variable and the name of a secret",
                "write --env VARIABLE=SECRET, like --env DB_PASSWORD=db",
            )
        if variable in wanted:
            raise _wrong(f"--env names {variable} twice", "give each variable one secret")
        wanted[variable] = secret
    return wanted


def split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Our own arguments, and the command with its own: what stands before and after the first `--`."""
    if "--" not in argv:
        return argv, ()
    end = list(argv).index("--")
    return argv[:end], argv[end + 1 :]


def without_pythons(
    inherited: Mapping[bytes, bytes], started_with: bytes | None
) -> Mapping[bytes, bytes]:
    """*inherited* without what Python has added to it: where nothing names a language it sets this variable for its
    children (PEP 538). *started_with* is what the kernel has of it, None where that is not known."""
    if started_with is None or f"\0{_COERCED}=".encode() in b"\0" + started_with:
        return inherited
    return {name: value for name, value in inherited.items() if name != _COERCED.encode()}


def environment(
    inherited: Mapping[bytes, bytes], wanted: Mapping[str, str], values: Mapping[str, bytes]
) -> dict[bytes, bytes]:
    """*inherited*, and each variable with the value of its secret. No message holds a value."""
    made = dict(inherited)
    for variable, secret in wanted.items():
        value = values[secret]
        if b"\0" in value:
            raise not_started(
                f"secret {secret!r} holds a zero byte, which ends a variable",
                "let the program read it from the socket, where a value may hold any byte",
            )
        if len(variable) + len(value) + 2 > LONGEST_STRING:
            raise not_started(
                f"secret {secret!r} is too long for a variable",
                "let the program read it from the socket",
            )
        made[variable.encode()] = value
    return made


def not_started(what: str, remedy: str) -> OperatorError:
    return OperatorError(what, remedy=remedy, code=ExitCode.NOT_STARTED)


def not_executed(command: str, error: OSError) -> OperatorError:
    remedy = "name a program that this user may execute, by its path or one on PATH"
    if error.errno == errno.E2BIG:
        remedy = "let the program read what is large from the socket"
    return not_started(f"{command}: {error.strerror}", remedy)


def _wrong(what: str, remedy: str) -> OperatorError:
    return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)
