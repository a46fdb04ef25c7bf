"""What several brains share: who learns, and what waits to be learned."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "claims",
        sa.Column("name", Words, primary_key=True),
        sa.Column("holder", Words, nullable=False),
        sa.Column("generation", Number, nullable=False),
        sa.Column("heard_at", sa.Float, nullable=False),
    )
    op.create_table(
        "reported_points",
        sa.Column("id", Number, primary_key=True),
        sa.Column("node", Words, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
