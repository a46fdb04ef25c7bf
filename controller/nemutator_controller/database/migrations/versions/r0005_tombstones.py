"""What the fields that stay taken back are bound to: a policy as it was, and one workload."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for name in ("policy", "revision", "owner_uid"):
        column = sa.Column(name, Words, nullable=False, server_default="")
        op.add_column("tombstones", column)
