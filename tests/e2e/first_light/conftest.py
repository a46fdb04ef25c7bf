"""One installation for all tests of first light: each step goes on from where the last one ended."""

from pathlib import Path

import pytest

from tests.e2e.first_light.installation import Installation, install, with_sample
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault


@pytest.fixture(scope="session")
def installation(cluster: Cluster, node: Node, image: ImageStore, vault: Vault) -> Installation:
    return install(cluster, node, image, vault)


@pytest.fixture(scope="session")
def sample_image(image: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("sample")
    with_sample(image, folder)
