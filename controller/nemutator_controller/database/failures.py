"""Why a database job failed, as one of a few words that can be a metric's label."""

from pathlib import Path
from typing import Literal

Reason = Literal[
    "full",
    "busy",
    "read_only",
    "io",
    "damaged",
    "queue_full",
    "deadline",
    "gone",
    "denied",
    "clock",
    "conflict",
    "form",
    "other",
]
Engine = Literal["sqlite", "postgresql", "objects"]

EXPLANATIONS: dict[Reason, str] = {
    "full": "no space left on the disk of {}: nothing is stored until there is",
    "busy": "another program holds a lock on it",
    "read_only": "it cannot be written any more",
    "io": "reading or writing it failed",
    "damaged": "it is damaged: stop nemutator, move it away, start again",
    "queue_full": "it is too slow for what arrives",
    "deadline": "it did not answer in time",
    "gone": "its file was moved or deleted, and nothing is stored until it is back",
    "denied": "it does not let us in",
    "clock": "its clock and ours are too far apart",
    "conflict": "others wrote the same at the same moment, again and again",
    "form": "its tables are not those that this version knows: a newer one has upgraded them, or some were removed",
    "other": "it refused an operation; the log says which",
}

AGAIN = "ask again later: asking twice does no harm"

REMEDIES: dict[Reason, str] = {
    "full": "make room on the disk of {}, then ask again",
    "busy": "end that program (an open sqlite3 shell?), then ask again",
    "read_only": "let the controller write its data directory again, then ask again",
    "io": "check the disk of {}, then ask again",
    "damaged": "stop nemutator, move the database away, start again",
    "gone": "put its file back into {}, or stop nemutator and start it again without what was in it, then ask again",
}
"""The remedies for reasons that a person must act on; the others pass by themselves. Braces stand
for the directory."""

POSTGRES_EXPLANATIONS: dict[Reason, str] = {
    **EXPLANATIONS,
    "full": "no space left on the disk of {}: nothing is stored until there is",
    "busy": "another session holds a lock on its tables, or all its connections are taken",
    "read_only": "{} takes no writes: it is a standby, or set to read only",
    "io": "{} cannot read or write its own files",
    "damaged": "{} says that its files are damaged",
    "deadline": "{} did not answer in time",
    "gone": "{} cannot be reached",
    "denied": "{} refuses our user, password or rights",
}

POSTGRES_REMEDIES: dict[Reason, str] = {
    "full": "make room on the disk of {}",
    "busy": "end that session (pg_stat_activity shows it), or raise max_connections",
    "read_only": "name the primary in brain.database, or end its read-only mode",
    "io": "check the disk of {}",
    "damaged": "restore {} from a backup",
    "deadline": "see whether {} is overloaded, or too far away, or whether its address in brain.database is wrong",
    "gone": "start PostgreSQL, or correct its address in brain.database",
    "denied": "correct the user in brain.database, its password file, or its rights",
    "form": "start the version that has upgraded them in the place of this one, or restore {} from a backup",
}
"""What to do, before asking or starting again; braces stand for the user, the server and the database."""

OBJECTS_EXPLANATIONS: dict[Reason, str] = {
    **EXPLANATIONS,
    "full": "there is no room left in {}",
    "busy": "{} asks us to come later",
    "io": "{} fails by itself",
    "deadline": "{} did not answer in time",
    "gone": "{} cannot be reached",
    "denied": "{} refuses our key, or there is no such bucket",
    "clock": "the clock of {} and the brain's are too far apart for a signature",
}

OBJECTS_REMEDIES: dict[Reason, str] = {
    "full": "make room in {}",
    "gone": "start it, or correct its address in brain.objects ({})",
    "denied": "correct brain.objects ({}), brain.objects_region, brain.objects_access_key or the file of its secret"
    " key",
    "clock": "set the clock of the brain's machine, or that of {}",
}
"""For a bucket of objects; braces stand for its address."""

# The keys are SQLite's primary result codes; extended ones add a suffix (SQLITE_IOERR_WRITE), and one has a meaning of its own.
_REASONS: dict[str, Reason] = {
    "FULL": "full",
    "BUSY": "busy",
    "LOCKED": "busy",
    "READONLY": "read_only",
    "PERM": "read_only",
    "READONLY_DBMOVED": "gone",
    "IOERR": "io",
    "CANTOPEN": "io",
    "CORRUPT": "damaged",
    "NOTADB": "damaged",
}

# PostgreSQL's codes of five characters (its appendix A), or the classes that their first two name.
_STATES: dict[str, Reason] = {
    "08": "gone",
    "23505": "conflict",
    "25006": "read_only",
    "28": "denied",
    "3D000": "denied",
    "40001": "conflict",
    "40P01": "conflict",
    "3F000": "form",
    "42501": "denied",
    "42703": "form",
    "42P01": "form",
    "53100": "full",
    "53300": "busy",
    "55P03": "busy",
    "57014": "deadline",
    "57P01": "gone",
    "57P02": "gone",
    "57P03": "gone",
    "57P05": "gone",
    "58": "io",
    "XX001": "damaged",
    "XX002": "damaged",
}

# A connection that could not be made has no code: libpq passes on the server's words alone.
_REFUSALS = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "is not permitted to log in",
    "permission denied for database",
)
_NO_CONNECTION_LEFT = (
    "too many clients already",
    "too many connections for",
    "remaining connection slots are reserved",
)


class ValueRefusedError(ValueError):
    """A value that no column can hold, such as a number beyond 64 bits: asking again is of no use."""


class StoreUnavailableError(Exception):
    """Nothing was stored, or it is unknown whether: try again later, storing twice is harmless."""

    def __init__(
        self, reason: Reason, place: Path | str | None = None, engine: Engine = "sqlite"
    ) -> None:
        explanations, remedy = EXPLANATIONS, REMEDIES.get(reason, AGAIN)
        where = place or "the data directory"
        if engine == "postgresql":
            where = place or "PostgreSQL"
            explanations = POSTGRES_EXPLANATIONS
            action = POSTGRES_REMEDIES.get(reason)
            remedy = AGAIN if action is None else f"{action}, then ask again"
        if engine == "objects":
            where = place or "the store of objects"
            explanations, action = OBJECTS_EXPLANATIONS, OBJECTS_REMEDIES.get(reason)
            remedy = AGAIN if action is None else f"{action}, then ask again"
        super().__init__(explanations[reason].format(where))
        self.reason = reason
        self.remedy = remedy.format(where)

    @property
    def full(self) -> bool:
        """Whether only more space on the disk helps."""
        return self.reason == "full"


def reason_of(error: BaseException | None) -> Reason:
    """The reason of a `sqlite3.Error`, by the name of its result code."""
    name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
    return _REASONS.get(name) or _REASONS.get(name.split("_")[0], "other")


def postgres_reason_of(error: BaseException | None) -> Reason:
    """The reason of a `psycopg.Error`, by its SQLSTATE."""
    state = getattr(error, "sqlstate", None)
    if state is None:
        # Without one the connection was not made, or has ended.
        if any(refusal in str(error) for refusal in _REFUSALS) or "does not exist" in str(error):
            return "denied"
        if any(words in str(error) for words in _NO_CONNECTION_LEFT):
            return "busy"
        # Of a server that is there, and slow, nobody should be told to start it.
        return "deadline" if "timeout expired" in str(error) else "gone"
    return _STATES.get(state) or _STATES.get(state[:2], "other")
