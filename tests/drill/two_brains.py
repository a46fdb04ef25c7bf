"""Two brains of one installation in a cluster, which share a PostgreSQL."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nemutator_controller.database.postgres import Server

from tests.e2e.testbed.in_cluster.installation import (
    READY_S,
    Installation,
    brain,
    installed,
    is_ready,
)
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until


@contextlib.contextmanager
def two_brains(
    cluster: Cluster, namespace: str, folder: Path, server: Server, **settings: str
) -> Iterator[tuple[Installation, Installation]]:
    """Both are ready, and end with it."""
    one_folder, other_folder = folder / "one", folder / "other"
    one_folder.mkdir()
    other_folder.mkdir()
    settings |= {
        "NEMUTATOR_BRAIN_DATABASE": server.place,
        "NEMUTATOR_BRAIN_DATABASE_PASSWORD_FILE": str(server.password_file),
    }
    with installed(cluster, namespace, one_folder, **settings) as one:
        other = replace(one, directory=other_folder, uplink=free_port(), console=free_port())
        process = brain(other, **settings)
        try:
            until(lambda: is_ready(other, process), "both are ready", within_s=READY_S)
            yield one, other
        finally:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
