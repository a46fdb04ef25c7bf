"""The first shape: cursors, latest, history, sessions."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "cursors",
        sa.Column("node", Words, primary_key=True),
        sa.Column("epoch", Words, primary_key=True),
        sa.Column("seq", Number, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
    )
    op.create_table(
        "latest",
        sa.Column("node", Words, primary_key=True),
        sa.Column("epoch", Words, nullable=False),
        sa.Column("seq", Number, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
        sa.Column("report", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "history",
        sa.Column("node", Words, primary_key=True),
        sa.Column("at", sa.Float, primary_key=True),
        sa.Column("cpu_cores", sa.Float),
        sa.Column("memory_used_bytes", Number, nullable=False),
        sa.Column("cpu_pressure_10s", sa.Float),
        sqlite_with_rowid=False,
    )
    op.create_index("history_at", "history", ["at"])
    op.create_table(
        "sessions",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("expires_at", sa.Float, nullable=False),
    )
