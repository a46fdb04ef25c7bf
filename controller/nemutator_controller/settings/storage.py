"""What the brain keeps, where and for how long."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import cluster_name, database_url


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    database: str = setting(
        "",
        "PostgreSQL with all records, as `postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full`, for"
        " several brains; empty: an SQLite file in the data directory, for one.",
        check=database_url,
    )
    database_password_file: str = setting(
        "",
        "File with the password for PostgreSQL; it is read anew for each connection. Empty: what the"
        " variable PGPASSWORD says, or none.",
    )
    database_bytes: int = setting(
        256 << 20,
        "Largest size of the file of SQLite; when it is reached the oldest history makes room.",
        check=between(1 << 20, 1 << 40),
    )
    cluster_name: str = setting(
        "",
        "Name of this cluster among several on one PostgreSQL, up to 40 letters, digits and dashes: all that it"
        " keeps is under it, and each shows the others. Empty: a database for one cluster.",
        check=cluster_name,
    )
    history_s: float = setting(
        86_400.0, "Seconds of history that are kept.", check=between(600, 366 * 86_400)
    )
    history_points: int = setting(
        500_000,
        "Points of history that are kept, of all nodes together.",
        check=between(1_000, 100_000_000),
    )
    history_containers: int = setting(
        10_000,
        "Containers of whose use a history is kept; each takes up to 10 KB of memory, and 3 KB more for"
        " each further figure that is reported. Further ones wait until one of these has not been"
        " reported for an hour.",
        check=between(1, 1_000_000),
    )
    journal_s: float = setting(
        90 * 86_400.0,
        "Seconds that a mutation stays in the journal, and can be taken back by its id.",
        check=between(3_600, 3660 * 86_400),
    )
    journal_decisions: int = setting(
        100_000, "Mutations that the journal keeps.", check=between(100, 10_000_000)
    )
