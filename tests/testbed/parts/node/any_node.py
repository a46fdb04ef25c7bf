"""What a node of the testbed's can do, wherever it runs: on this machine, or in one of its own."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from tests.testbed.parts.control_plane import Cluster


class AnyNode(Protocol):
    @property
    def cluster(self) -> Cluster: ...

    @property
    def kubelet_root(self) -> Path:
        """As hostPath volumes of pods name it."""

    @property
    def emulated(self) -> bool:
        """Whether its CPUs are: what is done often so that tests learn sooner is too much for them."""

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive whose image names itself; pods take it with imagePullPolicy Never."""

    def signal(self, pod_uid: str, container: str, name: str) -> None:
        """Send the signal of that name (KILL) to all processes of a running container."""

    def python(self, program: str, *arguments: str | Path) -> str:
        """What a program prints that runs on the node, in no pod, and sees its mounts."""

    def expose(self, ports: Iterable[int]) -> None:
        """Let this machine reach what listens on these ports of the node, as on its own."""

    def reach(self, port: int) -> None:
        """Let the node reach what listens on *port* of this machine's loopback, as on its own."""
