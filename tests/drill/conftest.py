from collections.abc import Iterator

import pytest

from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with new_namespace(cluster) as name:
        yield name
