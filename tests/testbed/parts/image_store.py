"""Images on the node, by the names under which pods take them: there is no registry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.parts import dockerfiles, images
from tests.testbed.parts.images import Image
from tests.testbed.parts.node.any_node import AnyNode


@dataclass(frozen=True, slots=True)
class ImageStore:
    """Pods name what is in it with `imagePullPolicy: Never`; images.BUSYBOX is there already."""

    node: AnyNode
    folder: Path

    def from_folder(
        self,
        folder: Path,
        name: str,
        *,
        entrypoint: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """What *folder* holds is all that the image holds."""
        image = Image(name, entrypoint=entrypoint, environment=environment or {})
        archive = self.folder / f"{name.replace('/', '_')}.tar"
        self.node.import_image(images.archive(folder, image, archive))
        return name

    def from_dockerfile(self, folder: Path, dockerfile: Path, name: str) -> str:
        """Built for real over the base image, or taken from the cache when nothing has changed."""
        self.node.import_image(dockerfiles.build(folder, dockerfile, name))
        return name


def begin(node: AnyNode) -> ImageStore:
    return ImageStore(node, node.cluster.run.folder("images"))
