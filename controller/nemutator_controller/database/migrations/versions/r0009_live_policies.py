"""Which policies were live, so that what they have written goes back when they are deleted."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "live_policies",
        sa.Column("name", Words, primary_key=True),
        sa.Column("since", sa.Float, nullable=False),
    )
