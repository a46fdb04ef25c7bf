"""One installation for the steps of test_sizing.py and then of test_whole_way.py, which leaves it as a person does.

It begins with the first test that asks for it: those before have installations of their own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.first_light.installation import Installation, install, uninstall, with_sample
from tests.e2e.first_light.scratch import with_scratch, with_vault
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault


@pytest.fixture(scope="package")
def installation(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault
) -> Iterator[Installation]:
    yield install(cluster, node, image, vault)
    uninstall(cluster)


@pytest.fixture(scope="module")
def sample_image(image: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("sample")
    with_sample(image, folder)


@pytest.fixture(scope="module")
def scratch_image(image: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    with_scratch(image, tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def vault_image(image: ImageStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    with_vault(image, tmp_path_factory.mktemp("vault"))
