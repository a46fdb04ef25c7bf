"""Files of secrets in memory."""

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret


class MemoryFolder:
    """A `FileFolder`."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, int]] = {}
        """Value and owner by name."""
        self.full = False

    def path_of(self, name: str) -> str:
        return f"/run/secrets/{name}"

    async def write(self, name: str, value: Secret, *, owner: int) -> None:
        if self.full:
            raise OperatorError("no space", remedy="make room", code=ExitCode.NO_SPACE)
        self.files[name] = (value.reveal(), owner)

    async def remove(self, name: str) -> None:
        self.files.pop(name, None)
