"""Which digests the tags of images name."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Words

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "image_digests",
        sa.Column("image", Words, primary_key=True),
        sa.Column("digest", Words, nullable=False),
    )
