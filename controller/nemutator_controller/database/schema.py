"""The tables, all of them. A change here needs a migration; tests/contract/database compares them."""

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, Table, Text

HEAD = "0002"
"""The newest migration. Written down, so that a start without migrations needs no Alembic
(150 ms and 10 MB)."""

metadata = MetaData()

cursors = Table(
    "cursors",
    metadata,
    # Up to which number the reports of one life of an agent are stored: what an Ack says.
    Column("node", Text, primary_key=True),
    Column("epoch", Text, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("touched_at", Float, nullable=False),
)

latest = Table(
    "latest",
    metadata,
    # The last look at each node, to show something (marked stale) after a restart of the brain.
    Column("node", Text, primary_key=True),
    Column("epoch", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("report", LargeBinary, nullable=False),
)

history = Table(
    "history",
    metadata,
    # The key makes a second point for the same moment impossible, whatever the code above does.
    Column("node", Text, primary_key=True),
    Column("at", Float, primary_key=True),
    Column("cpu_cores", Float),
    Column("memory_used_bytes", Integer, nullable=False),
    Column("cpu_pressure_10s", Float),
    # Oldest first, whatever the node: how retention finds its prey.
    Index("history_at", "at"),
    sqlite_with_rowid=False,
)

sessions = Table(
    "sessions",
    metadata,
    # Who may open the console: digests only, so that a copy of this file opens nothing.
    Column("digest", LargeBinary, primary_key=True),
    Column("expires_at", Float, nullable=False),
)

stream_cursors = Table(
    "stream_cursors",
    metadata,
    # Up to which number the records of a stream are stored, per life of its writer.
    Column("stream", Text, primary_key=True),
    Column("writer", Text, primary_key=True),
    Column("epoch", Text, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("touched_at", Float, nullable=False),
)
