"""What a cluster shows to the other clusters on the same PostgreSQL."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "published",
        sa.Column("name", Words, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
