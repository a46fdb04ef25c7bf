"""Streams of records, and the tables of the four features."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "stream_cursors",
        sa.Column("stream", sa.Text, primary_key=True),
        sa.Column("writer", sa.Text, primary_key=True),
        sa.Column("epoch", sa.Text, primary_key=True),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("writer", sa.Text, nullable=False),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("decisions_at", "decisions", ["at"])
    op.create_index("decisions_namespace", "decisions", ["namespace", "at"])
    op.create_table(
        "reversals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("decision", sa.Text, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("reversals_decision", "reversals", ["decision", "at"])
    op.create_table(
        "tombstones",
        sa.Column("namespace", sa.Text, primary_key=True),
        sa.Column("owner_kind", sa.Text, primary_key=True),
        sa.Column("owner_name", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("decision", sa.Text, nullable=False),
    )
    op.create_table(
        "histograms",
        sa.Column("namespace", sa.Text, primary_key=True),
        sa.Column("owner_kind", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("container", sa.Text, primary_key=True),
        sa.Column("points", sa.Integer, nullable=False),
        sa.Column("first_at", sa.Float, nullable=False),
        sa.Column("last_at", sa.Float, nullable=False),
        sa.Column("step_s", sa.Float, nullable=False),
        sa.Column("heard_at", sa.Float, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "profiles",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("asked_at", sa.Float, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("pprof", sa.LargeBinary),
    )
    op.create_index("profiles_asked_at", "profiles", ["asked_at"])
    op.create_table(
        "grants",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("pod", sa.Text, nullable=False),
        sa.Column("pod_uid", sa.Text, nullable=False),
        sa.Column("service_account", sa.Text, nullable=False),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("path_digest", sa.Text, nullable=False),
        sa.Column("version", sa.Integer),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Float),
    )
    op.create_index("grants_at", "grants", ["at"])
    op.create_table(
        "leases",
        sa.Column("node", sa.Text, primary_key=True),
        sa.Column("pod_uid", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("caller", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("pod", sa.Text, nullable=False),
        sa.Column("service_account", sa.Text, nullable=False),
        sa.Column("since", sa.Float, nullable=False),
        sa.Column("touched_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_index("leases_touched_at", "leases", ["touched_at"])
