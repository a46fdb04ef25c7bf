"""What the agent's stream of changes says, line by line."""

import json
from dataclasses import dataclass

WATCH_PATH = "/v1/watch"


@dataclass(frozen=True, slots=True)
class Notice:
    """One line: a change when it has a *name*, else a sign of life."""

    sequence: int
    name: str | None = None
    version: int | None = None
    missed: bool = False
    """Whether there were changes before, that nobody remembers."""


class NotALineError(ValueError):
    """The line is not one of the stream; its text is what the agent gave as a reason, if it did."""


def notice(line: bytes) -> Notice:
    try:
        given = json.loads(line)
        if isinstance(given, dict) and "error" in given:
            raise NotALineError(f"{given['error']} (step: {given.get('step')})")
        sequence, name, version = given["sequence"], given.get("name"), given.get("version")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, NotALineError):
            raise
        raise NotALineError("the line is not understood") from None
    if not isinstance(sequence, int) or not isinstance(name, str | None):
        raise NotALineError("the line is not understood")
    return Notice(
        sequence=sequence,
        name=name,
        version=version if isinstance(version, int) else None,
        missed=given.get("missed") is True,
    )


def path_after(sequence: int | None) -> str:
    return WATCH_PATH if sequence is None else f"{WATCH_PATH}?after={sequence}"
