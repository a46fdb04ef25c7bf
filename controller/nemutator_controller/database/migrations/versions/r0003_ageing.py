"""Quiet windows and what they show of workloads that age."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "window_sources",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("program", sa.Text, nullable=False),
        sa.Column("image", sa.Text, nullable=False),
        sa.Column("go_version", sa.Text, nullable=False),
        sa.Column("group", sa.Text, nullable=False),
        sa.Column("pod_uid", sa.Text),
        sa.Column("container_id", sa.Text),
        sa.Column("last_at", sa.Float, nullable=False),
        sa.Column("workload", sa.Text),
    )
    op.create_index("window_sources_workload", "window_sources", ["workload", "started_at"])
    op.create_index("window_sources_last_at", "window_sources", ["last_at"])
    op.create_table(
        "windows",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_index("windows_source", "windows", ["source", "at"])
    op.create_index("windows_at", "windows", ["at"])
    op.create_table(
        "window_symbols",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("frames", sa.LargeBinary, nullable=False),
    )
    op.create_index("window_symbols_seen_at", "window_symbols", ["seen_at"])
    op.create_table(
        "aged_workloads",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("workload", sa.LargeBinary, nullable=False),
        sa.Column("finding", sa.LargeBinary),
    )
