"""One installation for all steps of this folder, and gone when they have ended: others come after.

Its modules go on with what those before them have left: the whole way comes first, by its name.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.first_light.installation import Installation, install, uninstall, with_sample
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault

IN_GUEST = Path(__file__).parents[1] / "machine"


@pytest.fixture(scope="package")
def installation(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault, request: pytest.FixtureRequest
) -> Iterator[Installation]:
    installation = install(cluster, node, image, vault)
    if any(item.path.parent == IN_GUEST for item in request.session.items):
        # These steps wait for most of their time, in which it can start.
        request.getfixturevalue("early_guest")
    yield installation
    uninstall(cluster)


@pytest.fixture(scope="package")
def sample_image(image: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("sample")
    with_sample(image, folder)
