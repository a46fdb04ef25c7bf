"""Disks of their own for databases of PostgreSQL, which get full."""

import contextlib
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.testbed.parts.postgres import Postgres


@contextlib.contextmanager
def small_disk(postgres: Postgres, size: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """A tablespace on a disk of *size*, of which an empty database takes 8 MB; and what makes it larger."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    name = f"small_{secrets.token_hex(4)}"
    folder = Path("/tmp") / f"nemutator-{name}"
    folder.mkdir(mode=0o755)
    run: Callable[..., object] = partial(subprocess.run, check=True, timeout=60)
    run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700,uid=65534,gid=65534", "none", folder])
    try:
        postgres.sql(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
        postgres.sql(f"GRANT CREATE ON TABLESPACE {name} TO PUBLIC")
        try:
            yield name, partial(run, ["mount", "-o", "remount,size=512m", folder])
        finally:
            postgres.sql(f"DROP TABLESPACE {name}")
    finally:
        run(["umount", folder])
        folder.rmdir()
