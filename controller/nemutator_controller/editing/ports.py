"""What the editing of policies needs from others."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from nemutator_common.secret import Secret

from nemutator_controller.editing.documents import Outcome, StoredPolicy
from nemutator_controller.editing.previews import RunningObjects
from nemutator_controller.policies.model import Policy


class EditablePolicies(Protocol):
    """Raises `NotEditedError`. *who* is the token of the person who asks; None off clusters.

    In a cluster everything is done as that person: the brain needs no permission of its own for it.
    """

    async def all(self, who: Secret | None) -> Sequence[StoredPolicy]: ...

    async def running(self, who: Secret | None, policy: Policy) -> RunningObjects:
        """What there is of the kinds that *policy* is for."""
        ...

    async def save(
        self, who: Secret | None, document: Mapping[str, Any], *, version: str
    ) -> Outcome:
        """Store a sound policy in the place of the one with *version*; empty: there is none yet."""
        ...
