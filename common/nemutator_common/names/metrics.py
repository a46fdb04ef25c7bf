"""Every metric, declared once with its meaning."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its meaning. Each label is always given, from a small, fixed set of values."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets for latencies, from the SLO of a local response (1 ms) to the longest deadline (10 s)."""

HTTP_REQUESTS = Metric(
    "nemutator_http_requests_total",
    "counter",
    "answered HTTP requests, by listener, method and status",
    ("listener", "method", "status"),
)
HTTP_REQUEST_SECONDS = Metric(
    "nemutator_http_request_seconds",
    "histogram",
    "time from the complete head of a request to the last byte of the response",
    ("listener",),
    SECONDS,
)
HTTP_CONNECTIONS = Metric(
    "nemutator_http_connections",
    "gauge",
    "open connections, including those in their TLS handshake",
    ("listener",),
)
LOG_LINES_DROPPED = Metric(
    "nemutator_log_lines_dropped_total",
    "counter",
    "lines of the log that were not written because nobody read the earlier ones",
)
HTTP_CONNECTIONS_DROPPED = Metric(
    "nemutator_http_connections_dropped_total",
    "counter",
    "connections that we ended, by reason",
    ("listener", "reason"),
)
TLS_RELOADS = Metric(
    "nemutator_tls_reloads_total",
    "counter",
    "attempts to load a changed certificate, by result",
    ("listener", "result"),
)

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
    " periodic",
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
    "batches of records that were refused, by reason",
    ("reason",),
)
CALLERS = Metric(
    "nemutator_callers_total",
    "counter",
    "calls over the cluster's network, by the verdict on their token: granted, refused, kept (an older"
    " verdict, because the API server is away), unknown (there is none, for the same reason)",
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
HISTORY_POINTS = Metric(
    "nemutator_history_points", "gauge", "points of history in the database, of all nodes"
)
HISTORY_DROPPED = Metric(
    "nemutator_history_dropped_total",
    "counter",
    "points of history that were removed, by reason: age, count, full (to make room)",
    ("reason",),
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

SUMMARIES_LEARNED = Metric(
    "nemutator_summaries_learned_total", "counter", "summaries of use that sizing has learnt from"
)
SUMMARIES_DROPPED = Metric(
    "nemutator_summaries_dropped_total",
    "counter",
    "summaries of use that sizing ignored, by reason: unsound (the numbers or the clock), "
    "unknown_owner, no_room (as many containers are remembered as may be)",
    ("reason",),
)
USAGES = Metric("nemutator_usages", "gauge", "containers whose use sizing remembers")
USAGES_DROPPED = Metric(
    "nemutator_usages_dropped_total",
    "counter",
    "containers whose use was forgotten, by reason: count (to make room), age",
    ("reason",),
)
PROFILES_ASKED = Metric(
    "nemutator_profiles_asked_total",
    "counter",
    "requested profiles, by the way of the request (api, annotation) and its result (asked, refused)",
    ("by", "result"),
)
PROFILES_ENDED = Metric(
    "nemutator_profiles_ended_total",
    "counter",
    "profiles that ended, by state: done, refused, lost",
    ("state",),
)
PROFILES_DROPPED = Metric(
    "nemutator_profiles_dropped_total",
    "counter",
    "finished profiles that were removed, by reason: count, bytes",
    ("reason",),
)
PROFILE_OUTCOMES_REFUSED = Metric(
    "nemutator_profile_outcomes_refused_total",
    "counter",
    "outcomes of profiles that the brain refused, by reason: malformed, bounds, text, number, "
    "unknown, forbidden, pprof, store",
    ("reason",),
)

USAGE_SNAPSHOTS = Metric(
    "nemutator_usage_snapshots_total",
    "counter",
    "snapshots of the machine, by result: done, failed",
    ("result",),
)
USAGE_SNAPSHOT_SECONDS = Metric(
    "nemutator_usage_snapshot_seconds",
    "histogram",
    "time to take a snapshot of the machine and to turn it into a report",
    (),
    SECONDS,
)
INSPECTIONS = Metric(
    "nemutator_inspections_total",
    "counter",
    "executables whose runtime was asked for, by result: done, died, hung, slow or invalid (the"
    " worker was replaced), stuck (a file system does not answer), queue_full",
    ("result",),
)
UPLINK_SENT = Metric(
    "nemutator_uplink_sent_total",
    "counter",
    "records that the brain has acknowledged, by stream: reports, grants, decisions",
    ("stream",),
)
UPLINK_DROPPED = Metric(
    "nemutator_uplink_dropped_total",
    "counter",
    "records that were dropped before the brain had them, by stream and reason: buffer_full,"
    " malformed, too_large",
    ("stream", "reason"),
)
UPLINK_WAITING = Metric(
    "nemutator_uplink_waiting", "gauge", "records that wait for the brain, by stream", ("stream",)
)
UPLINK_FAILURES = Metric(
    "nemutator_uplink_failures_total",
    "counter",
    "calls to the brain that failed, by stream and reason: connection, untrusted, timeout, token,"
    " unauthorised, busy, failed, invalid",
    ("stream", "reason"),
)

KUBELET_CALLS = Metric(
    "nemutator_kubelet_calls_total",
    "counter",
    "calls of kubelet to the CSI driver, by method (as gRPC names it) and result: ok, or the gRPC"
    " status of the refusal",
    ("method", "result"),
)
VOLUMES = Metric("nemutator_volumes", "gauge", "volumes that are published to pods of this node")
VOLUMES_WAITING = Metric(
    "nemutator_volumes_waiting",
    "gauge",
    "volumes whose latest state the credentials process does not know yet",
)
VOLUME_FAILURES = Metric(
    "nemutator_volume_failures_total",
    "counter",
    "attempts to bring one volume to the credentials process that failed, by reason: credentials (it"
    " refused), machine (the volume's own directory: its pod has filled it, for example); the log names"
    " the volume",
    ("reason",),
)

CREDENTIAL_READS = Metric(
    "nemutator_credentials_reads_total",
    "counter",
    "requested secrets, by result: fetched (from Vault), cached, stale, stored (without Vault), or the"
    " reason of the failure: unavailable, login, token, denied, gone, missing, unsupported",
    ("result",),
)
CREDENTIAL_REFUSALS = Metric(
    "nemutator_credentials_refused_total",
    "counter",
    "requests on pods' sockets that were refused, by the step that refused them",
    ("step",),
)
ROTATION_CHECKS = Metric(
    "nemutator_rotation_checks_total",
    "counter",
    "secrets that were read again to see whether they have changed, by result: same, changed, or the"
    " reason of the failure: unavailable, login, token, denied, gone, missing, unsupported",
    ("result",),
)
FILES_WRITTEN = Metric(
    "nemutator_credentials_files_written_total",
    "counter",
    "times that the files of a pod had to follow a change, by result: written, or what kept them: disk,"
    " size, mode (they are for one user), or the step at which the pod was refused",
    ("result",),
)
FOLLOWED_PATHS = Metric(
    "nemutator_followed_paths", "gauge", "paths in Vault that are read again from time to time"
)
WATCHERS_DROPPED = Metric(
    "nemutator_credentials_watchers_dropped_total",
    "counter",
    "watches of changed secrets that we ended, by reason: slow (the caller did not read)",
    ("reason",),
)
POD_SOCKETS = Metric("nemutator_pod_sockets", "gauge", "volumes of pods whose socket is served")
VAULT_CALLS = Metric(
    "nemutator_vault_calls_total",
    "counter",
    "calls to Vault, by operation (login, renew, revoke, lookup, mount, read, exchange,"
    " health) and result",
    ("operation", "result"),
)
VAULT_CALL_SECONDS = Metric(
    "nemutator_vault_call_seconds",
    "histogram",
    "time of one call to Vault, by operation",
    ("operation",),
    SECONDS,
)
VAULT_CIRCUIT = Metric(
    "nemutator_vault_circuit",
    "gauge",
    "the circuit breaker between this node and Vault: 0 closed, 1 half open, 2 open (Vault is not asked)",
)
VAULT_TOKENS = Metric("nemutator_vault_tokens", "gauge", "Vault tokens that are held for pods")
LEASED_SECRETS = Metric(
    "nemutator_leased_secrets", "gauge", "secrets that Vault has lent to pods of this node"
)
RECOVERED_TOKENS = Metric(
    "nemutator_recovered_tokens_total",
    "counter",
    "Vault tokens that an earlier run of the credentials process has left, by what became of them:"
    " adopted (by their pod); revoked because they were superseded, their pod has ended, or it was not"
    " published again in time (orphaned); unknown (a login whose answer was never seen)",
    ("result",),
)
LEDGER_FAILURES = Metric(
    "nemutator_ledger_failures_total",
    "counter",
    "failures of the ledger of Vault tokens, by reason: unreadable, damaged, write, too_large, full"
    " (an older entry was dropped)",
    ("reason",),
)
REVOCATIONS_WAITING = Metric(
    "nemutator_revocations_waiting", "gauge", "Vault tokens of ended pods that are not revoked yet"
)
REVOCATIONS_DROPPED = Metric(
    "nemutator_revocations_dropped_total",
    "counter",
    "Vault tokens that expire without having been revoked, by reason: expired, queue_full, refused (by"
    " Vault)",
    ("reason",),
)
PROFILE_SESSIONS = Metric(
    "nemutator_profile_sessions_total",
    "counter",
    "profiles requested of this node, by result: done, or the reason of the refusal: busy, cgroup, gone, internal,"
    " kernel, libbpf, request, rights, symbols",
    ("result",),
)
PROFILE_PLACES = Metric(
    "nemutator_profile_places_total",
    "counter",
    "locations in profiles, by kind: go, native, kernel, unknown (without a name)",
    ("kind",),
)
SYMBOL_QUESTIONS = Metric(
    "nemutator_symbol_questions_total",
    "counter",
    "questions to the symbol worker by result: answered, or died, hung, slow, invalid (it was"
    " replaced)",
    ("result",),
)
PROFILE_SAMPLES = Metric(
    "nemutator_profile_samples_total",
    "counter",
    "samples of profiled targets, by result: recorded, or the reason of the loss: no_stack, stacks_full,"
    " rows_full, map_busy, unread",
    ("result",),
)
PROFILE_OUTCOMES_DROPPED = Metric(
    "nemutator_profile_outcomes_dropped_total",
    "counter",
    "outcomes of profiles that were dropped before the brain had them, by reason: outbox_full,"
    " malformed, too_large",
    ("reason",),
)

ADMISSIONS = Metric(
    "nemutator_admissions_total",
    "counter",
    "pods under review, by result: patched, unchanged, preview, dry_run, denied (the pod must not run"
    " without us, and cannot be injected), failed (let in unchanged: see"
    " nemutator_admission_failures_total)",
    ("result",),
)
ADMISSION_SECONDS = Metric(
    "nemutator_admission_seconds",
    "histogram",
    "time to plan, check and record the mutation of a pod",
    (),
    SECONDS,
)
ADMISSION_FAILURES = Metric(
    "nemutator_admission_failures_total",
    "counter",
    "failures while a pod was admitted, by reason: review (the request was refused),"
    " client (the caller's certificate has none of the names in client_names),"
    " no_object, bad_object, self_check, too_large, spool_full, disk, disk_slow, late, internal;"
    " namespace_unknown (policies that select namespaces did not match)",
    ("reason",),
)
ADMISSION_EDITS = Metric(
    "nemutator_admission_edits_total", "counter", "fields of pods that were changed", ("verb",)
)
POLICIES = Metric(
    "nemutator_policies",
    "gauge",
    "mutation policies, by state: sound, faulty (ignored; their status and the log have the reason)",
    ("state",),
)
POLICY_STATUSES = Metric(
    "nemutator_policy_statuses_total",
    "counter",
    "statuses of policies that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
SPOOL_RECORDS = Metric(
    "nemutator_spool_records", "gauge", "decisions on disk that the brain does not have yet"
)
SPOOL_BYTES = Metric("nemutator_spool_bytes", "gauge", "size of the spool's files")
SPOOL_DAMAGED = Metric(
    "nemutator_spool_damaged_total",
    "counter",
    "files of the spool that could not be read to their end, by reason: torn, unreadable",
    ("reason",),
)
SNAPSHOT_AGE = Metric(
    "nemutator_snapshot_age_seconds",
    "gauge",
    "seconds since the brain has last confirmed or replaced what admission knows (since the start, when"
    " it never has), by snapshot: advice, tombstones",
    ("snapshot",),
)
SNAPSHOT_FAILURES = Metric(
    "nemutator_snapshot_failures_total",
    "counter",
    "failures to fetch a snapshot, by snapshot and reason: those of nemutator_uplink_failures_total, and"
    " malformed; the previous snapshot stays in use",
    ("snapshot", "reason"),
)
