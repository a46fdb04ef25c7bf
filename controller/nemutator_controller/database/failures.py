"""Why a database job failed, as one of a few words that can be a metric's label."""

from pathlib import Path
from typing import Literal

Reason = Literal["full", "busy", "read_only", "io", "damaged", "queue_full", "deadline", "other"]

EXPLANATIONS: dict[Reason, str] = {
    "full": "no space left on the disk of {}: nothing is stored until there is",
    "busy": "another program holds a lock on it",
    "read_only": "it cannot be written any more",
    "io": "reading or writing it failed",
    "damaged": "it is damaged: stop nemutator, move it away, start again",
    "queue_full": "it is too slow for what arrives",
    "deadline": "it did not answer in time",
    "other": "it refused an operation; the log says which",
}

AGAIN = "ask again later: asking twice does no harm"

REMEDIES: dict[Reason, str] = {
    "full": "make room on the disk of {}, then ask again",
    "busy": "end that program (an open sqlite3 shell?), then ask again",
    "read_only": "let the controller write its data directory again, then ask again",
    "io": "check the disk of {}, then ask again",
    "damaged": "stop nemutator, move the database away, start again",
}
"""The remedies for reasons that a person must act on; the others pass by themselves. Braces stand
for the directory."""

# The keys are SQLite's primary result codes; extended ones add a suffix (SQLITE_IOERR_WRITE).
_REASONS: dict[str, Reason] = {
    "FULL": "full",
    "BUSY": "busy",
    "LOCKED": "busy",
    "READONLY": "read_only",
    "PERM": "read_only",
    "IOERR": "io",
    "CANTOPEN": "io",
    "CORRUPT": "damaged",
    "NOTADB": "damaged",
}


class StoreUnavailableError(Exception):
    """Nothing was stored, or it is unknown whether: try again later, storing twice is harmless."""

    def __init__(self, reason: Reason, directory: Path | None = None) -> None:
        where = directory or "the data directory"
        super().__init__(EXPLANATIONS[reason].format(where))
        self.reason = reason
        self.remedy = REMEDIES.get(reason, AGAIN).format(where)

    @property
    def full(self) -> bool:
        """Whether only more space on the disk helps."""
        return self.reason == "full"


def reason_of(error: BaseException | None) -> Reason:
    """The reason of a `sqlite3.Error`, by the name of its result code."""
    name = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
    return _REASONS.get(name.split("_")[0], "other")
