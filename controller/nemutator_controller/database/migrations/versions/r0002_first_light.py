"""Streams of records, and what the four jobs keep."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "stream_cursors",
        sa.Column("stream", sa.Text, primary_key=True),
        sa.Column("writer", sa.Text, primary_key=True),
        sa.Column("epoch", sa.Text, primary_key=True),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
    )
