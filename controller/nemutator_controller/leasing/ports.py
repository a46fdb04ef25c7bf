"""What leasing needs from others."""

from typing import Protocol

from nemutator_controller.leasing.election import BrainLease


class LeaseStore(Protocol):
    """Keeps one lease. Each of these raises `LeaseUnavailableError`."""

    async def read(self) -> BrainLease | None:
        """None: there is none yet."""
        ...

    async def write(self, lease: BrainLease) -> BrainLease:
        """Write *lease* over the version that it names, or make it where it names none; as it is then.

        Raises `LeaseTakenError` when there is another version by now.
        """
        ...
