"""What containers used in five minutes each, of which hourly requests are made."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "hourly_points",
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("owner_kind", Words, primary_key=True),
        sa.Column("owner", Words, primary_key=True),
        sa.Column("container", Words, primary_key=True),
        sa.Column("begin", Number, nullable=False),
        sa.Column("wanted_at", sa.Float, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
