"""Images on the node, by the names under which pods take them: there is no registry."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.building import made, unpacked
from tests.testbed.parts import images
from tests.testbed.parts.images import BUSYBOX, Image
from tests.testbed.parts.node.node import Node


@dataclass(frozen=True, slots=True)
class ImageStore:
    """Pods name what is in it with `imagePullPolicy: Never`."""

    node: Node
    folder: Path

    def busybox(self) -> str:
        """A shell and its commands; its name is BUSYBOX."""
        program = unpacked.program(made.debian("node"), "busybox")
        self._import(images.busybox(program, self._file(BUSYBOX)))
        return BUSYBOX

    def from_folder(
        self, folder: Path, name: str, *, entrypoint: Sequence[str] = (), **environment: str
    ) -> str:
        """What *folder* holds is all that the image holds."""
        image = Image(name, entrypoint=entrypoint, environment=environment)
        self._import(images.archive(folder, image, self._file(name)))
        return name

    def _import(self, archive: Path) -> None:
        self.node.import_image(archive)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name.replace('/', '_')}.tar"


def begin(node: Node) -> ImageStore:
    """With busybox in it."""
    store = ImageStore(node, node.cluster.run.folder("images"))
    store.busybox()
    return store
