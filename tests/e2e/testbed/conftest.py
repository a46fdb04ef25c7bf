from collections.abc import Iterator

import pytest

from tests.e2e.testbed.webhook import Webhook, define, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with new_namespace(cluster) as name:
        yield name


@pytest.fixture(scope="module")
def webhook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    """Strict, and with no brain; who needs another has one of its own."""
    define(cluster)
    with standing(cluster, tmp_path_factory.mktemp("admission")) as hook:
        yield hook


@pytest.fixture
def called(webhook: Webhook, namespace: str) -> Webhook:
    webhook.until_called(namespace)
    return webhook
