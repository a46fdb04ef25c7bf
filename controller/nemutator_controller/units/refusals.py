"""Why a unit is not sized."""


class UnitError(Exception):
    """*remedy*: what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


class UnitRefusedError(UnitError):
    """It may not be, and asking again does not help."""


class UnitsUnavailableError(UnitError):
    """systemd or its folder cannot be used now."""


class DropInChangedError(Exception):
    """The file is not what it was when it was read."""
