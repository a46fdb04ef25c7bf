"""What the webhook's handler needs from the rest of the process."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from nemutator_controller.mutations.advisor import Advisor
from nemutator_controller.mutations.image_commands import ImageCommands
from nemutator_controller.mutations.image_digests import ImageDigests
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.talkers import Talkers
from nemutator_controller.policies.snapshot import InSeason, Policies


class KnownCluster(Protocol):
    """What is known of the cluster now, from memory."""

    @property
    def policies(self) -> Policies | None:
        """None: no list of them has come yet, so nobody knows which there are."""
        ...

    @property
    def in_season(self) -> InSeason:
        """The names of policies whose seasons it is."""
        ...

    @property
    def advisor(self) -> Advisor: ...

    @property
    def tokens(self) -> KnownTokens | None:
        """None: there is no token store."""
        ...

    @property
    def images(self) -> ImageCommands: ...

    @property
    def digests(self) -> ImageDigests: ...

    @property
    def talkers(self) -> Talkers: ...

    def moment(self, *, with_bounds: bool) -> int | None:
        """The same as at another time: what is known of namespaces and workloads, and *with_bounds* the bounds, are the same
        as then. None: it is not known whether they are."""
        ...

    def resource_bounds(self, namespace: str) -> ResourceBounds:
        """What is not known bounds nothing."""
        ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """None: no watch has shown the namespace yet."""
        ...

    def runtime_handler(self, runtime_class: str) -> str | None:
        """None: no watch has shown this class yet, or it is not there."""
        ...

    def reversed(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        """The paths that were taken back for a workload and must not be written again."""
        ...

    def unwanted_labels(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        """Keys of labels that the selector of a workload wants pods without."""
        ...


class DecisionRecords(Protocol):
    """Decisions that are kept until the brain has them."""

    def keep(self, record: bytes) -> None:
        """Save *record*, so that it survives the end of this process. Raises `NotSavedError`."""
        ...

    async def save(self, record: bytes, *, durable: bool) -> None:
        """The same; *durable*: return when it will survive a crash of this machine, too."""
        ...


class StampLink(Protocol):
    """To the processes that share our port, each of which may be asked again about a pod of another one."""

    def tell(self, message: bytes) -> None:
        """Send *message* to all of them, without waiting; what is lost is counted."""
        ...

    def heard(self) -> Iterable[bytes]:
        """What they have sent since."""
        ...


class WrittenNode(Protocol):
    """What a status of a node says, as far as it is our business."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def annotations(self) -> Mapping[str, str]: ...

    @property
    def capacity(self) -> Mapping[str, str]: ...

    @property
    def allocatable(self) -> Mapping[str, str]: ...


class NodeStatusChange(Protocol):
    @property
    def result(self) -> str:
        """Of what was asked, or why nothing is changed."""
        ...

    @property
    def operations(self) -> Sequence[dict[str, Any]]:
        """A JSON Patch."""
        ...


class NodeStatusRule(Protocol):
    def __call__(self, user: str, before: WrittenNode, after: WrittenNode, /) -> NodeStatusChange:
        """What becomes of a status that *user* writes in the place of *before*; from memory."""
        ...
