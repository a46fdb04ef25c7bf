"""PostgreSQL on loopback: a new cluster of databases for each run, with nothing of it synced.

PostgreSQL refuses root. Started by root it runs as nobody, from a copy of its programs in the run:
the cache lies in root's home directory, where nobody else gets in.
"""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.secret import Secret

from tests.testbed.building import made, unpacked
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 60.0
CALL_S = 60.0
MAKE_S = 120.0
NOBODY = 65534
ADMINISTRATOR = "postgres"

SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    # In files of its own folder and in anonymous memory: a server that is killed leaves nothing in
    # /dev/shm. A few bytes of System V memory it always takes: see _apart.
    "dynamic_shared_memory_type": "mmap",
    "shared_memory_type": "mmap",
    # Nothing of it outlives the run, so no power cut has to be survived.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # Its library is half the copy, and pays for itself only in queries that take seconds.
    "jit": "off",
    "max_connections": "100",
}


class PostgresFailedError(Exception):
    """The databases could not be made; what PostgreSQL said."""


class SqlError(Exception):
    """PostgreSQL has refused a statement or a login; its words."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """How to reach PostgreSQL with all rights, and its programs."""

    port: int
    password: Secret
    programs: Path
    daemon: Daemon

    def sql(
        self,
        statements: str,
        *,
        user: str = ADMINISTRATOR,
        password: Secret | None = None,
        database: str = "postgres",
    ) -> str:
        """What the statements give: a line for each row, with | between its values."""
        ran = subprocess.run(
            [
                unpacked.program(self.programs, "psql"),
                "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
                "--set=ON_ERROR_STOP=1", f"--host={LOOPBACK}", f"--port={self.port}",
                f"--username={user}", "--no-password", f"--dbname={database}",
            ],
            input=statements,
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
            env={
                **unpacked.environment(self.programs),
                "HOME": str(self.programs),
                "PGPASSWORD": (password or self.password).reveal(),
            },
        )  # fmt: skip
        if ran.returncode != 0:
            raise SqlError(ran.stderr.strip())
        return ran.stdout.strip()


def begin(run: Run) -> Postgres:
    """Make the databases in *run*, start the server and return when it answers."""
    root = made.debian("postgres")
    user = NOBODY if os.geteuid() == 0 else None
    folder = run.folder("postgres")
    if user is not None:
        root = Path(shutil.copytree(root, folder / "programs", symlinks=True))
    port = free_port()
    password = secrets.token_hex(16)
    password_file = run.file("postgres/password", password)
    if user is not None:
        os.chown(folder, user, user)
        os.chown(password_file, user, user)
    data = folder / "data"
    environment = unpacked.environment(root) | {"HOME": str(folder), **run.mark}
    _make_databases(data, password_file, environment, programs=root, user=user)
    password_file.unlink()
    daemon = run.started(
        "postgres",
        [
            *_apart(user, signal.SIGQUIT),
            # To a folder where its user may be: it wants to come back to where it began.
            "env", f"--chdir={folder}", unpacked.program(root, "postgres"),
            "-D", data, "-p", str(port),
            *[word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")],
        ],
        environment=environment,
        stop=signal.SIGINT,  # without waiting for those who are connected
        death=signal.SIGQUIT,
    )  # fmt: skip
    postgres = Postgres(port, Secret(password), root, daemon)
    daemon.wait_until(lambda: _answers(postgres), within_s=READY_S)
    return postgres


def _make_databases(
    data: Path,
    password_file: Path,
    environment: Mapping[str, str],
    *,
    programs: Path,
    user: int | None,
) -> None:
    made_them = subprocess.run(
        [
            *_apart(user, signal.SIGTERM),
            unpacked.program(programs, "initdb"), f"--pgdata={data}", "--no-sync",
            f"--username={ADMINISTRATOR}", "--auth=scram-sha-256", f"--pwfile={password_file}",
            "--encoding=UTF8", "--locale=C", "--no-instructions",
        ],
        cwd=data.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=MAKE_S,
        check=False,
        env=environment,
    )  # fmt: skip
    if made_them.returncode != 0:
        raise PostgresFailedError(f"initdb: {made_them.stderr or made_them.stdout}")


def _apart(user: int | None, death: signal.Signals) -> list[str]:
    """As *user*, with shared memory of its own, and asked to end when who started it has died.

    System V memory stays behind a server that is killed, unless it is in a namespace that ends with
    the server. Who may not make one has to rely on *death* being a signal after which it tidies up.
    """
    namespace = ["unshare", "--ipc", "--"]
    refused = subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode
    changed = [] if user is None else [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    # The kernel forgets the signal when the user changes: setpriv sets it after that.
    tied = ["setpriv", f"--pdeathsig={death.name.removeprefix('SIG')}", *changed, "--"]
    return tied if refused else [*namespace, *tied]


def _answers(postgres: Postgres) -> bool:
    try:
        return postgres.sql("SELECT 1") == "1"
    except SqlError:
        return False
