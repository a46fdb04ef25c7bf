"""Streams of records, and the tables of the four features."""

import sqlalchemy as sa
from alembic import op
from nemutator_controller.database.columns import Number, Words

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "stream_cursors",
        sa.Column("stream", Words, primary_key=True),
        sa.Column("writer", Words, primary_key=True),
        sa.Column("epoch", Words, primary_key=True),
        sa.Column("seq", Number, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
    )
    op.create_table(
        "decisions",
        sa.Column("id", Words, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("writer", Words, nullable=False),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("kind", Words, nullable=False),
        sa.Column("name", Words, nullable=False),
        sa.Column("state", Words, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("decisions_at", "decisions", ["at"])
    op.create_index("decisions_namespace", "decisions", ["namespace", "at"])
    op.create_table(
        "reversals",
        sa.Column("id", Words, primary_key=True),
        sa.Column("decision", Words, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("reversals_decision", "reversals", ["decision", "at"])
    op.create_table(
        "tombstones",
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("owner_kind", Words, primary_key=True),
        sa.Column("owner_name", Words, primary_key=True),
        sa.Column("path", Words, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("decision", Words, nullable=False),
    )
    op.create_table(
        "histograms",
        sa.Column("namespace", Words, primary_key=True),
        sa.Column("owner_kind", Words, primary_key=True),
        sa.Column("owner", Words, primary_key=True),
        sa.Column("container", Words, primary_key=True),
        sa.Column("points", Number, nullable=False),
        sa.Column("first_at", sa.Float, nullable=False),
        sa.Column("last_at", sa.Float, nullable=False),
        sa.Column("step_s", sa.Float, nullable=False),
        sa.Column("heard_at", sa.Float, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "profiles",
        sa.Column("id", Words, primary_key=True),
        sa.Column("asked_at", sa.Float, nullable=False),
        sa.Column("state", Words, nullable=False),
        sa.Column("node", Words, nullable=False),
        sa.Column("bytes", Number, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("pprof", sa.LargeBinary),
    )
    op.create_index("profiles_asked_at", "profiles", ["asked_at"])
    op.create_table(
        "grants",
        sa.Column("id", Number, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("node", Words, nullable=False),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("pod", Words, nullable=False),
        sa.Column("pod_uid", Words, nullable=False),
        sa.Column("service_account", Words, nullable=False),
        sa.Column("caller", Words, nullable=False),
        sa.Column("operation", Words, nullable=False),
        sa.Column("secret", Words, nullable=False),
        sa.Column("path_digest", Words, nullable=False),
        sa.Column("version", Number),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("result", Words, nullable=False),
        sa.Column("reason", Words, nullable=False),
        sa.Column("role", Words, nullable=False),
        sa.Column("expires_at", sa.Float),
    )
    op.create_index("grants_at", "grants", ["at"])
    op.create_table(
        "leases",
        sa.Column("node", Words, primary_key=True),
        sa.Column("pod_uid", Words, primary_key=True),
        sa.Column("role", Words, primary_key=True),
        sa.Column("caller", Words, primary_key=True),
        sa.Column("namespace", Words, nullable=False),
        sa.Column("pod", Words, nullable=False),
        sa.Column("service_account", Words, nullable=False),
        sa.Column("since", sa.Float, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_index("leases_touched_at", "leases", ["touched_at"])
