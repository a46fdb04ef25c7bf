"""Slow rolls of workloads."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "rolls",
        sa.Column("id", Words, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("state", Words, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("rolls_at", "rolls", ["at"])
