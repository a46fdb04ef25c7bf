"""A namespace for one test: what that leaves in it does not meet the next."""

import contextlib
import http.client
import secrets
from collections.abc import Iterator

from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

READY_S = 60
NAMESPACES = "/api/v1/namespaces"


@contextlib.contextmanager
def new_namespace(cluster: Cluster, kind: str = "test") -> Iterator[str]:
    """Ready for pods: its default service account is there.

    Asked for without kubectl, whose start takes longer than all of this.
    """
    name = f"{kind}-{secrets.token_hex(4)}"
    wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    status, said = cluster.ask(NAMESPACES, method="POST", given=wanted)
    assert status == http.client.CREATED, said
    account = f"{NAMESPACES}/{name}/serviceaccounts/default"
    try:
        until(
            lambda: cluster.ask(account)[0] == http.client.OK,
            f"the default service account of {name}",
            within_s=READY_S,
        )
        yield name
    finally:
        # Its end takes seconds that nobody has to wait for.
        status, said = cluster.ask(f"{NAMESPACES}/{name}", method="DELETE")
        assert status == http.client.OK, said
