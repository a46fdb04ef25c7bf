"""Metrics of the controller's common ground: the API server, what is sent to the brain, its database, its callers."""

from nemutator_common.names.metrics import Metric

KUBE_REQUESTS = Metric(
    "nemutator_kube_requests_total",
    "counter",
    "requests to the API server, by verb and result (the HTTP status, or why there was none)",
    ("verb", "result"),
)
KUBE_OBJECTS = Metric(
    "nemutator_kube_objects",
    "gauge",
    "objects that the informer of a resource holds",
    ("resource",),
)
KUBE_EVENTS = Metric(
    "nemutator_kube_events_total",
    "counter",
    "received watch events, including bookmarks",
    ("resource",),
)
KUBE_LISTS = Metric(
    "nemutator_kube_lists_total",
    "counter",
    "complete lists that were begun, by reason: first, gone (the server no longer has our version), stuck,"
    " periodic, absent (the resource was not served)",
    ("resource", "reason"),
)
KUBE_UNDECODABLE = Metric(
    "nemutator_kube_objects_undecodable_total",
    "counter",
    "objects that were skipped because they could not be read; the log names them",
    ("resource",),
)
KUBE_RESYNCS = Metric(
    "nemutator_kube_subscribers_resynced_total",
    "counter",
    "times that a subscriber was so slow that its queue was replaced by a snapshot of all objects",
    ("resource", "subscriber"),
)
KUBE_EVENTS_DROPPED = Metric(
    "nemutator_kube_own_events_dropped_total",
    "counter",
    "our Kubernetes Events that were not written, by reason",
    ("reason",),
)
REPORTS_STORED = Metric(
    "nemutator_reports_stored_total", "counter", "reports of agents that were new and are stored"
)
LOOP_HELD = Metric(
    "nemutator_loop_held_seconds",
    "histogram",
    "how late the event loop was, which nobody else uses while one piece of work does: asked twenty times a second, so"
    " that a hold is seen a twentieth of a second too short at most",
    (),
    (0.001, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
REPORT_GROUP_SIZE = Metric(
    "nemutator_report_group_size",
    "histogram",
    "batches of reports that were stored in one transaction",
    (),
    (1, 2, 4, 8, 16, 32, 64, 128),
)
REPORTS_REPEATED = Metric(
    "nemutator_reports_repeated_total",
    "counter",
    "reports that were ignored, because they were stored already",
)
REPORTS_LOST = Metric(
    "nemutator_reports_lost_total",
    "counter",
    "reports that an agent had to drop before they could be sent: it skipped their numbers",
)
REPORT_EVERY_SECONDS = Metric(
    "nemutator_report_every_seconds",
    "gauge",
    "seconds between two reports that the brain asks of each node, so that it keeps up with all of"
    " them; 0 leaves it to the node's own setting",
)
BATCHES_REFUSED = Metric(
    "nemutator_batches_refused_total",
    "counter",
    "batches of records that were refused, by reason; memory: bodies that are on their way took too much of it",
    ("reason",),
)
CALLERS = Metric(
    "nemutator_callers_total",
    "counter",
    "calls over the cluster's network, by the verdict on their token: granted, refused, kept (an older"
    " verdict, because the API server is away), unknown (there is none, for the same reason)",
    ("result",),
)
TOKENS_JUDGED = Metric(
    "nemutator_tokens_judged_total",
    "counter",
    "tokens of our processes, by how they were judged: remembered (proven by a signature before), signed (by a"
    " key of the cluster), reviewed (the API server was asked, as about all that a signature does not"
    " decide), forged (no key of the cluster has signed it)",
    ("how",),
)
SIGNING_KEYS_READ = Metric(
    "nemutator_signing_keys_read_total",
    "counter",
    "reads of the keys with which the cluster signs tokens, by result: read, failed (the keys of before stay"
    " in use; without any, the API server reviews each token)",
    ("result",),
)
STREAM_RECORDS = Metric(
    "nemutator_stream_records_total",
    "counter",
    "records of streams, by result: stored, repeated (ignored, because they were stored already), lost"
    " (their writer had to drop them)",
    ("stream", "result"),
)
DATABASE_QUEUE = Metric(
    "nemutator_database_queue", "gauge", "writes that wait for the database's one writer"
)
DATABASE_FAILURES = Metric(
    "nemutator_database_failures_total",
    "counter",
    "operations that the database did not do, by operation (read, write) and reason",
    ("operation", "reason"),
)
DATABASE_CONFLICTS = Metric(
    "nemutator_database_conflicts_total",
    "counter",
    "writes that were run again, because another brain had changed what they read (PostgreSQL only)",
)
DECISIONS = Metric("nemutator_decisions", "gauge", "decisions of admission that the journal keeps")
DECISIONS_DROPPED = Metric(
    "nemutator_decisions_dropped_total",
    "counter",
    "decisions that the journal did not take (malformed) or has removed (age, count)",
    ("reason",),
)
STAMPS = Metric(
    "nemutator_stamps_total",
    "counter",
    "pods with our stamp, by what the journal made of them: observed (it has learnt the pod's name),"
    " known (it knew the name), foreign (the stamp is another pod's), unknown (it has no such decision"
    " after many tries), full (too many pods waited for their decision)",
    ("result",),
)
REVERSALS = Metric(
    "nemutator_reversals_total",
    "counter",
    "attempts to take a decision back, by the state that they left it in: reversed, partly, conflict,"
    " observed (nothing could be done)",
    ("state",),
)
CONSOLE_REFUSED = Metric(
    "nemutator_console_refused_total",
    "counter",
    "requests that the console refused, by reason: host, origin, session, key, forbidden (by RBAC),"
    " path, unknown (the API server is away)",
    ("reason",),
)
BRAIN_LEADS = Metric(
    "nemutator_brain_leads",
    "gauge",
    "1 while this brain does what only one of several may do, else 0",
)
