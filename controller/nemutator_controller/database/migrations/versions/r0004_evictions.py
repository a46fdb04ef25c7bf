"""Evictions that people have asked for."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "eviction_requests",
        sa.Column("id", Words, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("eviction_requests_at", "eviction_requests", ["at"])
    op.create_table(
        "requested_evictions",
        sa.Column("request", Words, primary_key=True),
        sa.Column("uid", Words, primary_key=True),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("state", Words, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("requested_evictions_state", "requested_evictions", ["state", "at"])
