"""All tables. A change here needs a migration; tests/contract/database compares the two."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, Table, Text

HEAD = "0008"
"""The newest migration. It is written here so that a start without migrations need not import
Alembic (150 ms and 10 MB)."""

metadata = MetaData()

cursors = Table(
    "cursors",
    metadata,
    # The number up to which the reports of an agent's epoch are stored, as an Ack says it.
    Column("node", Text, primary_key=True),
    Column("epoch", Text, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("touched_at", Float, nullable=False),
)

latest = Table(
    "latest",
    metadata,
    # The last report of each node, to show (as stale) after a restart of the brain.
    Column("node", Text, primary_key=True),
    Column("epoch", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("report", LargeBinary, nullable=False),
)

history = Table(
    "history",
    metadata,
    # The key makes a second point for the same moment impossible, whatever the callers do.
    Column("node", Text, primary_key=True),
    Column("at", Float, primary_key=True),
    Column("cpu_cores", Float),
    Column("memory_used_bytes", Integer, nullable=False),
    Column("cpu_pressure_10s", Float),
    # Retention needs the oldest points first, whatever their node.
    Index("history_at", "at"),
    sqlite_with_rowid=False,
)

sessions = Table(
    "sessions",
    metadata,
    # Sessions that may open the console: only digests, so that a copy of this file opens nothing.
    Column("digest", LargeBinary, primary_key=True),
    Column("expires_at", Float, nullable=False),
)

stream_cursors = Table(
    "stream_cursors",
    metadata,
    # The number up to which the records of a stream are stored, per epoch of its writer.
    Column("stream", Text, primary_key=True),
    Column("writer", Text, primary_key=True),
    Column("epoch", Text, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("touched_at", Float, nullable=False),
)

decisions = Table(
    "decisions",
    metadata,
    # What admission changed. The columns are what people search for; `document` is the whole
    # record as it came. Values from secrets are digests in it.
    Column("id", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("writer", Text, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("caller", Text, nullable=False, server_default=""),
    Index("decisions_at", "at"),
    Index("decisions_namespace", "namespace", "at"),
    Index("decisions_caller", "caller", "state"),
)

reversals = Table(
    "reversals",
    metadata,
    # Each attempt to roll a decision back, and the outcome of each of its edits.
    Column("id", Text, primary_key=True),
    Column("decision", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("reversals_decision", "decision", "at"),
)

tombstones = Table(
    "tombstones",
    metadata,
    # Fields of a workload's pods that admission no longer changes, because a mutation of them was
    # rolled back by replacing a pod.
    Column("namespace", Text, primary_key=True),
    Column("owner_kind", Text, primary_key=True),
    Column("owner_name", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("decision", Text, nullable=False),
    Column("policy", Text, nullable=False, server_default=""),
    Column("revision", Text, nullable=False, server_default=""),
    Column("owner_uid", Text, nullable=False, server_default=""),
)

histograms = Table(
    "histograms",
    metadata,
    # What each container has used, as a packed row of sizing's matrices.
    Column("namespace", Text, primary_key=True),
    Column("owner_kind", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("container", Text, primary_key=True),
    Column("points", Integer, nullable=False),
    Column("first_at", Float, nullable=False),
    Column("last_at", Float, nullable=False),
    Column("step_s", Float, nullable=False),
    Column("heard_at", Float, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

profiles = Table(
    "profiles",
    metadata,
    # Every profile that was requested, and its outcome; the profile itself is the last column.
    Column("id", Text, primary_key=True),
    Column("asked_at", Float, nullable=False),
    Column("state", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("pprof", LargeBinary),
    Index("profiles_asked_at", "asked_at"),
)

grants = Table(
    "grants",
    metadata,
    # What credentials processes did or refused, numbered in order of arrival, which is also the
    # order of removal.
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("node", Text, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("pod", Text, nullable=False),
    Column("pod_uid", Text, nullable=False),
    Column("service_account", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("path_digest", Text, nullable=False),
    Column("version", Integer),
    Column("cached", Boolean, nullable=False),
    Column("result", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("expires_at", Float),
    Index("grants_at", "at"),
)

leases = Table(
    "leases",
    metadata,
    # Vault tokens that are or were valid, derived from the grants. No token itself is stored.
    Column("node", Text, primary_key=True),
    Column("pod_uid", Text, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("caller", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("pod", Text, nullable=False),
    Column("service_account", Text, nullable=False),
    Column("since", Float, nullable=False),
    Column("touched_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("revoked", Boolean, nullable=False),
    Index("leases_touched_at", "touched_at"),
)

window_sources = Table(
    "window_sources",
    metadata,
    # Processes that quiet windows have read, and the workload of each once it is known.
    Column("id", Text, primary_key=True),
    Column("node", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("program", Text, nullable=False),
    Column("image", Text, nullable=False),
    Column("go_version", Text, nullable=False),
    Column("group", Text, nullable=False),
    Column("pod_uid", Text),
    Column("container_id", Text),
    Column("last_at", Float, nullable=False),
    Column("workload", Text),
    Index("window_sources_workload", "workload", "started_at"),
    Index("window_sources_last_at", "last_at"),
)

windows = Table(
    "windows",
    metadata,
    # One reading of one process: amounts by the ids of sites and functions, packed.
    Column("number", Integer, primary_key=True),
    Column("source", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("packed", LargeBinary, nullable=False),
    Index("windows_source", "source", "at"),
    Index("windows_at", "at"),
)

window_symbols = Table(
    "window_symbols",
    metadata,
    # What the ids of sites and functions stand for, on all nodes.
    Column("id", Text, primary_key=True),
    Column("seen_at", Float, nullable=False),
    Column("frames", LargeBinary, nullable=False),
    Index("window_symbols_seen_at", "seen_at"),
)

aged_workloads = Table(
    "aged_workloads",
    metadata,
    # Workloads of those processes, and the newest finding on each.
    Column("id", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("workload", LargeBinary, nullable=False),
    Column("finding", LargeBinary),
)

eviction_requests = Table(
    "eviction_requests",
    metadata,
    # Who wanted which pods evicted, and why.
    Column("id", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("eviction_requests_at", "at"),
)

requested_evictions = Table(
    "requested_evictions",
    metadata,
    # What became of each pod of them; the queue of the brain is what is not finished.
    Column("request", Text, primary_key=True),
    Column("uid", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("requested_evictions_state", "state", "at"),
)

rolls = Table(
    "rolls",
    metadata,
    # Slow rolls of workloads, each with the strategy that is to be put back.
    Column("id", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("rolls_at", "at"),
)

image_digests = Table(
    "image_digests",
    metadata,
    # Which digest each tag of an image named when its registry was asked last.
    Column("image", Text, primary_key=True),
    Column("digest", Text, nullable=False),
)
