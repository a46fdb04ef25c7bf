"""What containers used, cell by cell."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "history_rows",
        sa.Column("number", Number, primary_key=True, autoincrement=False),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("owner_kind", Words, nullable=False),
        sa.Column("owner", Words, nullable=False),
        sa.Column("container", Words, nullable=False),
        sa.Column("since_save", Number, nullable=False),
    )
    op.create_table(
        "history_slices",
        sa.Column("level", Words, primary_key=True),
        sa.Column("part", Number, primary_key=True, autoincrement=False),
        sa.Column("cell", Number, primary_key=True, autoincrement=False),
        sa.Column("moment", Number, nullable=False),
        sa.Column("saved", Number, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
