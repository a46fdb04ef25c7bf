"""All tables. A change here needs a migration; tests/contract/database compares the two."""

from sqlalchemy import Boolean, Column, Float, Index, LargeBinary, MetaData, Table

from nemutator_controller.database.columns import Number, Words

HEAD = "0016"
"""The newest migration. It is written here so that a start without migrations need not import
Alembic (150 ms and 10 MB)."""

metadata = MetaData()

cursors = Table(
    "cursors",
    metadata,
    # The number up to which the reports of an agent's epoch are stored, as an Ack says it.
    Column("node", Words, primary_key=True),
    Column("epoch", Words, primary_key=True),
    Column("seq", Number, nullable=False),
    Column("touched_at", Float, nullable=False),
)

latest = Table(
    "latest",
    metadata,
    # The last report of each node, to show (as stale) after a restart of the brain.
    Column("node", Words, primary_key=True),
    Column("epoch", Words, nullable=False),
    Column("seq", Number, nullable=False),
    Column("seen_at", Float, nullable=False),
    Column("report", LargeBinary, nullable=False),
)

history = Table(
    "history",
    metadata,
    # The key makes a second point for the same moment impossible, whatever the callers do.
    Column("node", Words, primary_key=True),
    Column("at", Float, primary_key=True),
    Column("cpu_cores", Float),
    Column("memory_used_bytes", Number, nullable=False),
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
    Column("stream", Words, primary_key=True),
    Column("writer", Words, primary_key=True),
    Column("epoch", Words, primary_key=True),
    Column("seq", Number, nullable=False),
    Column("touched_at", Float, nullable=False),
)

decisions = Table(
    "decisions",
    metadata,
    # What admission changed. The columns are what people search for; `document` is the whole
    # record as it came. Values from secrets are digests in it.
    Column("id", Words, primary_key=True),
    Column("at", Float, nullable=False),
    Column("writer", Words, nullable=False),
    Column("namespace", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("caller", Words, nullable=False, server_default=""),
    Index("decisions_at", "at"),
    Index("decisions_namespace", "namespace", "at"),
    Index("decisions_caller", "caller", "state"),
)

reversals = Table(
    "reversals",
    metadata,
    # Each attempt to roll a decision back, and the outcome of each of its edits.
    Column("id", Words, primary_key=True),
    Column("decision", Words, nullable=False),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("reversals_decision", "decision", "at"),
)

tombstones = Table(
    "tombstones",
    metadata,
    # Fields of a workload's pods, or of its template, that admission no longer changes, because a mutation
    # of them was rolled back.
    Column("namespace", Words, primary_key=True),
    Column("owner_kind", Words, primary_key=True),
    Column("owner_name", Words, primary_key=True),
    Column("path", Words, primary_key=True),
    Column("at", Float, nullable=False),
    Column("decision", Words, nullable=False),
    Column("policy", Words, nullable=False, server_default=""),
    Column("revision", Words, nullable=False, server_default=""),
    Column("owner_uid", Words, nullable=False, server_default=""),
)

histograms = Table(
    "histograms",
    metadata,
    # What each container has used, as a packed row of sizing's matrices.
    Column("namespace", Words, primary_key=True),
    Column("owner_kind", Words, primary_key=True),
    Column("owner", Words, primary_key=True),
    Column("container", Words, primary_key=True),
    Column("points", Number, nullable=False),
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
    Column("id", Words, primary_key=True),
    Column("asked_at", Float, nullable=False),
    Column("state", Words, nullable=False),
    Column("node", Words, nullable=False),
    Column("bytes", Number, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("pprof", LargeBinary),
    Index("profiles_asked_at", "asked_at"),
)

grants = Table(
    "grants",
    metadata,
    # What credentials processes did or refused, numbered in order of arrival, which is also the
    # order of removal.
    Column("id", Number, primary_key=True),
    Column("at", Float, nullable=False),
    Column("node", Words, nullable=False),
    Column("namespace", Words, nullable=False),
    Column("pod", Words, nullable=False),
    Column("pod_uid", Words, nullable=False),
    Column("service_account", Words, nullable=False),
    Column("caller", Words, nullable=False),
    Column("operation", Words, nullable=False),
    Column("secret", Words, nullable=False),
    Column("path_digest", Words, nullable=False),
    Column("version", Number),
    Column("cached", Boolean, nullable=False),
    Column("result", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("expires_at", Float),
    Index("grants_at", "at"),
)

leases = Table(
    "leases",
    metadata,
    # Vault tokens that are or were valid, derived from the grants. No token itself is stored.
    Column("node", Words, primary_key=True),
    Column("pod_uid", Words, primary_key=True),
    Column("role", Words, primary_key=True),
    Column("caller", Words, primary_key=True),
    Column("namespace", Words, nullable=False),
    Column("pod", Words, nullable=False),
    Column("service_account", Words, nullable=False),
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
    Column("id", Words, primary_key=True),
    Column("node", Words, nullable=False),
    Column("pid", Number, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("program", Words, nullable=False),
    Column("image", Words, nullable=False),
    Column("go_version", Words, nullable=False),
    Column("group", Words, nullable=False),
    Column("pod_uid", Words),
    Column("container_id", Words),
    Column("last_at", Float, nullable=False),
    Column("workload", Words),
    Index("window_sources_workload", "workload", "started_at"),
    Index("window_sources_last_at", "last_at"),
)

windows = Table(
    "windows",
    metadata,
    # One reading of one process: amounts by the ids of sites and functions, packed.
    Column("number", Number, primary_key=True),
    Column("source", Words, nullable=False),
    Column("at", Float, nullable=False),
    Column("bytes", Number, nullable=False),
    Column("packed", LargeBinary, nullable=False),
    Index("windows_source", "source", "at"),
    Index("windows_at", "at"),
)

window_symbols = Table(
    "window_symbols",
    metadata,
    # What the ids of sites and functions stand for, on all nodes.
    Column("id", Words, primary_key=True),
    Column("seen_at", Float, nullable=False),
    Column("frames", LargeBinary, nullable=False),
    Index("window_symbols_seen_at", "seen_at"),
)

aged_workloads = Table(
    "aged_workloads",
    metadata,
    # Workloads of those processes, and the newest finding on each.
    Column("id", Words, primary_key=True),
    Column("namespace", Words, nullable=False),
    Column("workload", LargeBinary, nullable=False),
    Column("finding", LargeBinary),
)

eviction_requests = Table(
    "eviction_requests",
    metadata,
    # Who wanted which pods evicted, and why.
    Column("id", Words, primary_key=True),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("eviction_requests_at", "at"),
)

requested_evictions = Table(
    "requested_evictions",
    metadata,
    # What became of each pod of them; the queue of the brain is what is not finished.
    Column("request", Words, primary_key=True),
    Column("uid", Words, primary_key=True),
    Column("namespace", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("at", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("requested_evictions_state", "state", "at"),
)

rolls = Table(
    "rolls",
    metadata,
    # Slow rolls of workloads, each with the strategy that is to be put back.
    Column("id", Words, primary_key=True),
    Column("at", Float, nullable=False),
    Column("namespace", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("rolls_at", "at"),
)

live_policies = Table(
    "live_policies",
    metadata,
    # Names of policies that what runs follows, those that are deleted too: what they wrote goes back.
    Column("name", Words, primary_key=True),
    Column("since", Float, nullable=False),
)

image_digests = Table(
    "image_digests",
    metadata,
    # Which digest each tag of an image named when its registry was asked last.
    Column("image", Words, primary_key=True),
    Column("digest", Words, nullable=False),
)

history_rows = Table(
    "history_rows",
    metadata,
    # Whose use each row of the history is. A number that is free again goes to another container.
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("namespace", Words, nullable=False),
    Column("owner_kind", Words, nullable=False),
    Column("owner", Words, nullable=False),
    Column("container", Words, nullable=False),
    Column("since_save", Number, nullable=False),
)

history_slices = Table(
    "history_slices",
    metadata,
    # One cell of some thousand rows; the next one with its place takes it, so that they stay as many.
    Column("level", Words, primary_key=True),
    Column("part", Number, primary_key=True, autoincrement=False),
    Column("cell", Number, primary_key=True, autoincrement=False),
    Column("moment", Number, nullable=False),
    Column("saved", Number, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    # What one brain of several does at a time, and since which generation (PostgreSQL only).
    Column("name", Words, primary_key=True),
    Column("holder", Words, nullable=False),
    Column("generation", Number, nullable=False),
    Column("heard_at", Float, nullable=False),
)

reported_points = Table(
    "reported_points",
    metadata,
    # What reports said was used, until it is in the rows of who learns (PostgreSQL only).
    Column("id", Number, primary_key=True),
    Column("node", Words, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

published = Table(
    "published",
    metadata,
    # What brains of other clusters show of this one: they read it in this cluster's schema.
    Column("name", Words, primary_key=True),
    Column("at", Float, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

season_days = Table(
    "season_days",
    metadata,
    # What a workload used on one day, slot by slot: seasons are found in them.
    Column("namespace", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("day_s", Float, primary_key=True),
    Column("day", Number, primary_key=True, autoincrement=False),
    Column("packed", LargeBinary, nullable=False),
)

season_switches = Table(
    "season_switches",
    metadata,
    # Which policies are in force by their season, and since when.
    Column("kind", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("document", LargeBinary, nullable=False),
)

neighbour_weeks = Table(
    "neighbour_weeks",
    metadata,
    # How often a pod or a workload had each grade in the last seven days.
    Column("role", Words, primary_key=True),
    Column("namespace", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("day", Number, nullable=False),
    Column("saved", Number, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)

start_times = Table(
    "start_times",
    metadata,
    # How long the newest pods of a workload took until they were ready.
    Column("namespace", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)

hourly_points = Table(
    "hourly_points",
    metadata,
    # What containers used in five minutes each, of which hourly requests are made.
    Column("namespace", Words, primary_key=True),
    Column("owner_kind", Words, primary_key=True),
    Column("owner", Words, primary_key=True),
    Column("container", Words, primary_key=True),
    Column("begin", Number, nullable=False),
    Column("wanted_at", Float, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)
