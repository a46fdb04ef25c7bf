"""Quiet windows and what they show of workloads that age."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "window_sources",
        sa.Column("id", Words, primary_key=True),
        sa.Column("node", Words, nullable=False),
        sa.Column("pid", Number, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("program", Words, nullable=False),
        sa.Column("image", Words, nullable=False),
        sa.Column("go_version", Words, nullable=False),
        sa.Column("group", Words, nullable=False),
        sa.Column("pod_uid", Words),
        sa.Column("container_id", Words),
        sa.Column("last_at", sa.Float, nullable=False),
        sa.Column("workload", Words),
    )
    op.create_index("window_sources_workload", "window_sources", ["workload", "started_at"])
    op.create_index("window_sources_last_at", "window_sources", ["last_at"])
    op.create_table(
        "windows",
        sa.Column("number", Number, primary_key=True),
        sa.Column("source", Words, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("bytes", Number, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_index("windows_source", "windows", ["source", "at"])
    op.create_index("windows_at", "windows", ["at"])
    op.create_table(
        "window_symbols",
        sa.Column("id", Words, primary_key=True),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("frames", sa.LargeBinary, nullable=False),
    )
    op.create_index("window_symbols_seen_at", "window_symbols", ["seen_at"])
    op.create_table(
        "aged_workloads",
        sa.Column("id", Words, primary_key=True),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("workload", sa.LargeBinary, nullable=False),
        sa.Column("finding", sa.LargeBinary),
    )
