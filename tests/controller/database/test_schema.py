import re

from nemutator_controller.database import upgrade
from nemutator_controller.database.schema import HEAD, metadata
from sqlalchemy.dialects import postgresql

KNOWN = {"BIGINT", 'TEXT COLLATE "C"', "FLOAT", "BYTEA", "BOOLEAN"}
STEPS = upgrade.MIGRATIONS / "versions"


def test_columns_are_of_types_that_mean_the_same_on_both_engines() -> None:
    for table in metadata.tables.values():
        for column in table.columns:
            kind = column.type.compile(postgresql.dialect())  # type: ignore[no-untyped-call]
            assert kind in KNOWN, f"{table.name}.{column.name}: use database/columns.py"


def test_migrations_use_those_types_too() -> None:
    steps = sorted(STEPS.glob("r*.py"))
    assert steps
    for step in steps:
        assert not re.search(r"sa\.(Integer|Text|String|BigInteger)\b", step.read_text()), step.name


def test_the_tables_are_known_by_name() -> None:
    assert set(metadata.tables) == {
        "aged_workloads",
        "claims",
        "cursors",
        "decisions",
        "published",
        "season_days",
        "season_switches",
        "eviction_requests",
        "grants",
        "histograms",
        "history",
        "hourly_points",
        "history_rows",
        "history_slices",
        "image_digests",
        "latest",
        "leases",
        "live_policies",
        "reversals",
        "profiles",
        "reported_points",
        "requested_evictions",
        "rolls",
        "sessions",
        "stream_cursors",
        "neighbour_weeks",
        "start_times",
        "tombstones",
        "window_sources",
        "window_symbols",
        "windows",
    }


def test_revisions_sort_as_text() -> None:
    # How a newer database is recognised.
    assert len(HEAD) == 4
    assert HEAD.isdigit()
