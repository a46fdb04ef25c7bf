"""A brain that cannot read what it has stored when it starts: that is for whoever runs it, and no defect of it."""

import contextlib
from collections.abc import Iterator, Mapping

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_controller.database.failures import AGAIN, Reason, StoreUnavailableError

# With any other, a supervisor should try again.
_CODES: Mapping[Reason, ExitCode] = {
    "damaged": ExitCode.DATABASE,
    "denied": ExitCode.DATABASE,
    "read_only": ExitCode.DATABASE,
    "full": ExitCode.NO_SPACE,
}


@contextlib.contextmanager
def explained_at_the_start() -> Iterator[None]:
    """A `StoreUnavailableError` inside becomes an `OperatorError`."""
    try:
        yield
    except StoreUnavailableError as failure:
        remedy = failure.remedy.replace(", then ask again", ", then start again")
        raise OperatorError(
            f"what is stored cannot be read: {failure}",
            remedy="start again once it answers" if remedy == AGAIN else remedy,
            code=_CODES.get(failure.reason, ExitCode.UNREACHABLE),
        ) from failure
