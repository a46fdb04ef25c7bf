"""Evictions that people have asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "eviction_requests",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("eviction_requests_at", "eviction_requests", ["at"])
    op.create_table(
        "requested_evictions",
        sa.Column("request", sa.Text, primary_key=True),
        sa.Column("uid", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("requested_evictions_state", "requested_evictions", ["state", "at"])
