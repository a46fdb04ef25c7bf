"""Days of use in which seasons are found, and what they have switched."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "season_days",
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("kind", Words, primary_key=True),
        sa.Column("name", Words, primary_key=True),
        sa.Column("day_s", sa.Float, primary_key=True),
        sa.Column("day", Number, primary_key=True, autoincrement=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "season_switches",
        sa.Column("kind", Words, primary_key=True),
        sa.Column("name", Words, primary_key=True),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
