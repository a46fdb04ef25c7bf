"""What the choice of pods needs from others."""

from typing import Protocol

from nemutator_controller.windows.choice import DeclaredPod


class NodePods(Protocol):
    def find(self, node: str, uid: str) -> DeclaredPod | None:
        """The pod of that uid, if it is on that node; None also while the cluster is not known."""
        ...
