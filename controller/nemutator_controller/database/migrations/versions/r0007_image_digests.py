"""Which digests the tags of images name."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "image_digests",
        sa.Column("image", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
    )
