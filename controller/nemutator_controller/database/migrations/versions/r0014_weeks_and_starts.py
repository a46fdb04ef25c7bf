"""Weeks of grades of neighbours, and how long pods of a workload took until they were ready."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "neighbour_weeks",
        sa.Column("role", Words, primary_key=True),
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("kind", Words, primary_key=True),
        sa.Column("name", Words, primary_key=True),
        sa.Column("day", Number, nullable=False),
        sa.Column("saved", Number, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "start_times",
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("kind", Words, primary_key=True),
        sa.Column("name", Words, primary_key=True),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
