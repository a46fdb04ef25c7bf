"""From which address admission was asked, by which forged reviews are told from those of an API server."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("decisions", sa.Column("caller", Words, nullable=False, server_default=""))
    op.create_index("decisions_caller", "decisions", ["caller", "state"])
