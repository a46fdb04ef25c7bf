"""Two brains of one installation in a cluster, which share a PostgreSQL."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nemutator_controller.database.postgres import Server

from tests.e2e.testbed.in_cluster.installation import Installation, ended, installed, started
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import free_port


def database_settings(server: Server) -> dict[str, str]:
    """For a brain's environment."""
    return {
        "NEMUTATOR_BRAIN_DATABASE": server.place,
        "NEMUTATOR_BRAIN_DATABASE_PASSWORD_FILE": str(server.password_file),
    }


@contextlib.contextmanager
def two_brains(
    cluster: Cluster, namespace: str, folder: Path, server: Server, **settings: str
) -> Iterator[tuple[Installation, Installation]]:
    """Both are ready, and end with it."""
    one_folder, other_folder = folder / "one", folder / "other"
    one_folder.mkdir()
    other_folder.mkdir()
    settings |= database_settings(server)
    with installed(cluster, namespace, one_folder, **settings) as one:
        other = replace(one, directory=other_folder, uplink=free_port(), console=free_port())
        try:
            started(other, **settings)
            yield one, other
        finally:
            ended(other)
