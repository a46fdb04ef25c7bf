"""The vocabulary: every metric, log key and role, declared once with its meaning.

A name that is not here does not exist: meters refuse undeclared metrics, a house test refuses log
keys written as plain strings, and the tables in docs/reference.md are generated from this module.
"""

from dataclasses import dataclass
from typing import Literal, Self, TypeVar

PREFIX = "nemutator"
"""The prefix of the distribution, of environment variables and of metrics."""

DOMAIN = f"{PREFIX}.io"
"""The domain of our labels, annotations and API groups in Kubernetes."""

API_VERSION = f"{DOMAIN}/v1"
"""The version in the documents that our API and the command line return."""

# --- roles: the processes that we start, and the command line ------------------------------------
UP = "up"
BRAIN = "brain"
ADMISSION = "admission"
OBSERVE = "observe"
CREDENTIALS = "credentials"
MOUNT = "mount"
CTL = "ctl"
ROLES = (UP, CTL, BRAIN, ADMISSION, OBSERVE, CREDENTIALS, MOUNT)
"""Each has its own table in the settings file and its own prefix in the environment."""

AS_ROOT = "run `nemutator up` as root, or let it raise `observe` with sudo"
"""The one remedy for what an ordinary user's `observe` may not see or do."""


# --- words that pods and people use in Kubernetes -----------------------------------------------
class Word(str):
    """A label, annotation or other name that is used in objects of a cluster, with its meaning."""

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        word = super().__new__(cls, name)
        word.meaning = meaning
        return word


INJECT = Word(
    f"{DOMAIN}/inject",
    "label of a namespace (`enabled`) or pod (`enabled`, `disabled`, `required`): whether its pods"
    " get the socket and the init container",
)
SKIP = Word(f"{DOMAIN}/skip", 'annotation of a pod, `"true"`: leave it alone entirely')
SKIP_MUTATION = Word(
    f"{DOMAIN}/skip-mutation",
    "annotation of a pod: verbs that leave it alone, with spaces or commas between them; `patch`"
    " computes and logs, and applies nothing",
)
SECRET_PREFIX = Word(
    f"{DOMAIN}/secret.",
    "begin of an annotation of a pod; the rest is a name, the value a Vault reference"
    " `mount/path[#key]`; delivered as file `/run/nemutator/secrets/<name>`",
)
ENVIRONMENT_PREFIX = Word(
    f"{DOMAIN}/env.",
    "begin of an annotation of a pod; the rest is a variable, the value a Vault reference",
)
VAULT_ROLE = Word(
    f"{DOMAIN}/vault-role",
    "annotation of a pod: the Vault role to log in with; without it `{namespace}.{serviceaccount}`",
)
PROFILE = Word(
    f"{DOMAIN}/profile",
    "annotation of a pod: a request like `cpu 30s`, with `at=99hz` and `id=<any>` if wished; a new"
    " value is a new request",
)
PROFILE_RESULT = Word(
    f"{DOMAIN}/profile-result",
    "annotation of a pod, written by the brain: id, state (`running`, `done`, `refused: reason`)"
    " and link of the profile that was asked for",
)
MUTATION = Word(
    f"{DOMAIN}/mutation",
    "annotation of a pod, written by the webhook: id and edits of what it did, so that they can be"
    " taken back without the journal",
)
RUN_AS_USER = Word(
    f"{DOMAIN}/run-as-user",
    "attribute of a pod's volume, where it stands without our domain: the uid that its containers"
    " agree on; written by the webhook",
)
CSI_DRIVER = Word(f"agent.{DOMAIN}", "name of the CSI driver that gives a pod its socket")
BRAIN_AUDIENCE = Word(f"brain.{DOMAIN}", "audience of the tokens that agents show to the brain")
VAULT_AUDIENCE = Word("vault", "audience of the tokens that kubelet gives the agent for a pod")

POD_DIRECTORY = "/run/nemutator"
"""Where the agent's volume is mounted in a container; it has `agent.sock` and `secrets/`."""

POD_SOCKET = "agent.sock"


# --- log keys -----------------------------------------------------------------------------------
class Key(str):
    """A key of a structured log line. Its meaning travels with it."""

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        key = super().__new__(cls, name)
        key.meaning = meaning
        return key


REQUEST = Key("request", "id of the HTTP request that this line belongs to")
ROLE = Key("role", "which process of nemutator wrote the line")
ADDRESS = Key("address", "the address that is listened on or called")
ATTEMPT = Key("attempt", "how many times in a row this has been tried")
BYTES = Key("bytes", "size of the answer's body")
CACHED = Key("cached", "whether Vault was not asked, because the answer was still fresh")
COUNT = Key("count", "how many")
DECISION = Key("decision", "id of one answer of admission that changed something")
DELAY_S = Key("delay_s", "seconds until the next try")
DURATION_MS = Key("duration_ms", "how long it took, in milliseconds")
EPOCH = Key("epoch", "one life of an agent process: numbers start again in the next")
ERROR = Key("error", "what went wrong, shortened and without secrets")
EXIT = Key("exit", "exit code of a process, or the signal that ended it")
LISTENER = Key("listener", "name of what listens: a role can have several")
METHOD = Key("method", "HTTP method")
NODE = Key("node", "name of the machine that is spoken of")
OBJECT = Key("object", "a Kubernetes object, as `namespace/name`")
OPERATION = Key(
    "operation", "what was done for a caller: read, env, login, renew, revoke, connect, set, delete"
)
PATH = Key("path", "path of the HTTP request, or of a file")
PEER = Key("peer", "who is at the other end of a connection")
PID = Key("pid", "process id")
POD = Key("pod", "a pod, as `namespace/name`; outside of Kubernetes the caller")
POD_UID = Key("pod_uid", "uid of a pod")
PROCESS = Key("process", "name of a supervised process")
PROFILE_ID = Key("profile", "id of a profile")
REASON = Key("reason", "why: one of a few fixed words, the same as in the metric")
RESOURCE = Key("resource", "a resource of the Kubernetes API, in the plural: `pods`")
RESULT = Key("result", "how it ended: granted, denied or failed; of a pod: patched or preview")
SECRET_NAME = Key("secret", "name under which a pod declares a secret; never its value")
SEQ = Key("seq", "number of a report within its epoch")
SNAPSHOT = Key("snapshot", "what admission keeps of the brain's knowledge: advice or tombstones")
STATE = Key("state", "how far it has come: one of a few fixed words, the same as in the metric")
STATUS = Key("status", "HTTP status of the answer")
STREAM = Key("stream", "which records go to the brain: reports, grants or decisions")
TASK = Key("task", "name of a task inside a process")
VOLUME = Key("volume", "id that kubelet gave to a volume of a pod")


# --- metrics ------------------------------------------------------------------------------------
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
    "HTTP requests answered, by listener, method and status",
    ("listener", "method", "status"),
)
HTTP_REQUEST_SECONDS = Metric(
    "nemutator_http_request_seconds",
    "histogram",
    "time from the complete request head to the last byte of the answer",
    ("listener",),
    SECONDS,
)
HTTP_CONNECTIONS = Metric(
    "nemutator_http_connections",
    "gauge",
    "connections open now, those still in their TLS handshake included",
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
    "connections that were ended by us, by reason",
    ("listener", "reason"),
)
TLS_RELOADS = Metric(
    "nemutator_tls_reloads_total",
    "counter",
    "attempts to take over a changed certificate, by result",
    ("listener", "result"),
)

KUBE_REQUESTS = Metric(
    "nemutator_kube_requests_total",
    "counter",
    "requests to the API server, by verb and result (an HTTP status, or why there was none)",
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
    "watch events taken in, bookmarks included",
    ("resource",),
)
KUBE_LISTS = Metric(
    "nemutator_kube_lists_total",
    "counter",
    "whole lists begun, by why: first, gone (the server forgot our version), stuck or periodic",
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
    "times that a subscriber was so slow that its queue was replaced by one look at everything",
    ("resource", "subscriber"),
)
KUBE_EVENTS_DROPPED = Metric(
    "nemutator_kube_own_events_dropped_total",
    "counter",
    "Kubernetes Events of ours that were not written, by reason",
    ("reason",),
)

REPORTS_STORED = Metric(
    "nemutator_reports_stored_total", "counter", "reports of agents that were new and are on disk"
)
REPORTS_REPEATED = Metric(
    "nemutator_reports_repeated_total", "counter", "reports that were stored already, so ignored"
)
REPORTS_LOST = Metric(
    "nemutator_reports_lost_total",
    "counter",
    "numbers that an agent skipped: it had to drop those reports before they could be sent",
)
REPORT_EVERY_SECONDS = Metric(
    "nemutator_report_every_seconds",
    "gauge",
    "what the brain asks of each node, so that it keeps up with all; 0: as often as it is set to",
)
BATCHES_REFUSED = Metric(
    "nemutator_batches_refused_total",
    "counter",
    "batches of reports that were not taken, by reason",
    ("reason",),
)
CALLERS = Metric(
    "nemutator_callers_total",
    "counter",
    "calls over the cluster's network, by what their token was worth: granted, refused, kept (by an"
    " older verdict, as the API server is away), unknown (for the same reason)",
    ("result",),
)
STREAM_RECORDS = Metric(
    "nemutator_stream_records_total",
    "counter",
    "records of streams, by result: stored, repeated (stored already, so ignored), lost (numbers"
    " that their writer had to drop)",
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
    "points of history that were removed, by reason: age, count, or full (to make room)",
    ("reason",),
)
DECISIONS = Metric("nemutator_decisions", "gauge", "decisions of admission that the journal keeps")
DECISIONS_DROPPED = Metric(
    "nemutator_decisions_dropped_total",
    "counter",
    "decisions that are not in the journal (any more), by reason: malformed, age, count",
    ("reason",),
)
STAMPS = Metric(
    "nemutator_stamps_total",
    "counter",
    "pods with our stamp, by what the journal made of them: observed (it has the pod's name now),"
    " known (nothing new), foreign (the stamp is of another pod), unknown (it has no such decision,"
    " however often it was asked), full (too many waited for theirs)",
    ("result",),
)
REVERSALS = Metric(
    "nemutator_reversals_total",
    "counter",
    "tries to take a decision back, by the state that they left it in: reversed, partly, conflict,"
    " observed (nothing could be done)",
    ("state",),
)
CONSOLE_REFUSED = Metric(
    "nemutator_console_refused_total",
    "counter",
    "requests to the console that were not answered, by reason: host, origin, session, key,"
    " forbidden (by RBAC), path, or unknown (the API server is away)",
    ("reason",),
)

SUMMARIES_LEARNED = Metric(
    "nemutator_summaries_learned_total", "counter", "summaries of use that sizing has taken in"
)
SUMMARIES_DROPPED = Metric(
    "nemutator_summaries_dropped_total",
    "counter",
    "summaries of use that sizing did not take in, by reason: unsound (its numbers or its clock), "
    "unknown_owner (nobody knows whose it is), no_room (as many containers as are remembered)",
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
    "profiles that were asked for, by who asked (api, annotation) and result (asked, refused)",
    ("by", "result"),
)
PROFILES_ENDED = Metric(
    "nemutator_profiles_ended_total",
    "counter",
    "profiles that came to an end, by state: done, refused, lost",
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
    "outcomes of profiles that were not taken, by reason: malformed, bounds, text, number, "
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
    "time to take a snapshot of the machine and to make a report of it",
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
    "records that the brain said it has stored, by stream: reports, grants, decisions",
    ("stream",),
)
UPLINK_DROPPED = Metric(
    "nemutator_uplink_dropped_total",
    "counter",
    "records that the brain will never get, by stream and reason: buffer_full, malformed,"
    " too_large",
    ("stream", "reason"),
)
UPLINK_WAITING = Metric(
    "nemutator_uplink_waiting", "gauge", "records that wait for the brain, by stream", ("stream",)
)
UPLINK_FAILURES = Metric(
    "nemutator_uplink_failures_total",
    "counter",
    "calls to the brain without the answer they were made for, by stream and reason: connection,"
    " untrusted, timeout, token, unauthorised, busy, failed, nonsense",
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

CREDENTIAL_READS = Metric(
    "nemutator_credentials_reads_total",
    "counter",
    "secrets asked for, by result: fetched (from Vault), cached, stale, stored (without Vault), or"
    " why not: unavailable, login, token, denied, gone, missing, unsupported",
    ("result",),
)
CREDENTIAL_REFUSALS = Metric(
    "nemutator_credentials_refused_total",
    "counter",
    "requests on pods' sockets that were refused, by the step that said no",
    ("step",),
)
POD_SOCKETS = Metric("nemutator_pod_sockets", "gauge", "pods' volumes whose socket is served")
VAULT_CALLS = Metric(
    "nemutator_vault_calls_total",
    "counter",
    "calls to Vault, by operation (login, renew, revoke, mount, read) and result",
    ("operation", "result"),
)
VAULT_CALL_SECONDS = Metric(
    "nemutator_vault_call_seconds",
    "histogram",
    "time of one call to Vault, by operation",
    ("operation",),
    SECONDS,
)
VAULT_TOKENS = Metric("nemutator_vault_tokens", "gauge", "Vault tokens that are held for pods")
RECOVERED_TOKENS = Metric(
    "nemutator_recovered_tokens_total",
    "counter",
    "Vault tokens that an earlier life of the credentials process has left, by what came of them:"
    " adopted by their pod; revoked because they were superseded, their pod has ended, or was not"
    " published again in time (orphaned); unknown (a login whose answer nobody has seen)",
    ("result",),
)
LEDGER_FAILURES = Metric(
    "nemutator_ledger_failures_total",
    "counter",
    "times when the ledger of Vault tokens was not what it should be, by reason: unreadable,"
    " damaged, write, too_large, full (an older entry had to go)",
    ("reason",),
)
REVOCATIONS_WAITING = Metric(
    "nemutator_revocations_waiting", "gauge", "Vault tokens of ended pods that are still to revoke"
)
REVOCATIONS_DROPPED = Metric(
    "nemutator_revocations_dropped_total",
    "counter",
    "Vault tokens that were left to their end, by reason: expired, queue_full, refused (by Vault)",
    ("reason",),
)
PROFILE_SESSIONS = Metric(
    "nemutator_profile_sessions_total",
    "counter",
    "profiles asked for on this node, by result: done, or why not: busy, cgroup, gone, internal,"
    " kernel, libbpf, request, rights, symbols",
    ("result",),
)
PROFILE_PLACES = Metric(
    "nemutator_profile_places_total",
    "counter",
    "places in profiles by what they turned out to be: go, native, kernel, or unknown (no name)",
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
    "samples of profiled targets, by result: recorded, or lost because of no_stack, stacks_full,"
    " rows_full, map_busy, unread",
    ("result",),
)
PROFILE_OUTCOMES_DROPPED = Metric(
    "nemutator_profile_outcomes_dropped_total",
    "counter",
    "outcomes of profiles that the brain will never get, by reason: outbox_full, malformed,"
    " too_large",
    ("reason",),
)

ADMISSIONS = Metric(
    "nemutator_admissions_total",
    "counter",
    "pods that the API server asked about, by result: patched, unchanged, preview, dry_run, denied"
    " (it must not run without us, and cannot be injected), failed (let in unchanged, see"
    " nemutator_admission_failures_total)",
    ("result",),
)
ADMISSION_SECONDS = Metric(
    "nemutator_admission_seconds",
    "histogram",
    "time to plan, check and record what is done to a pod",
    (),
    SECONDS,
)
ADMISSION_FAILURES = Metric(
    "nemutator_admission_failures_total",
    "counter",
    "what went wrong while a pod was admitted, by reason: review (the question was refused),"
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
    "mutation policies, by state: sound, faulty (left aside; their status and the log say why)",
    ("state",),
)
POLICY_STATUSES = Metric(
    "nemutator_policy_statuses_total",
    "counter",
    "what the brain has said on policies about them, by result: written, failed (tried again)",
    ("result",),
)
SPOOL_RECORDS = Metric(
    "nemutator_spool_records", "gauge", "decisions on the disk that the brain does not have yet"
)
SPOOL_BYTES = Metric("nemutator_spool_bytes", "gauge", "size of the spool's files")
SPOOL_DAMAGED = Metric(
    "nemutator_spool_damaged_total",
    "counter",
    "files of the spool whose end could not be read, by reason: torn, unreadable",
    ("reason",),
)
SNAPSHOT_AGE = Metric(
    "nemutator_snapshot_age_seconds",
    "gauge",
    "since the brain has last said that what admission knows is what it knows itself, or since the"
    " start when it never has, by snapshot: advice, tombstones",
    ("snapshot",),
)
SNAPSHOT_FAILURES = Metric(
    "nemutator_snapshot_failures_total",
    "counter",
    "times that a snapshot could not be had, by snapshot and reason: those of"
    " nemutator_uplink_failures_total, and malformed; the one before is used on",
    ("snapshot", "reason"),
)

Declared = TypeVar("Declared", Key, Metric, Word)


def declared(kind: type[Declared]) -> tuple[Declared, ...]:
    """All names of one *kind*, in the order of this file."""
    return tuple(value for value in globals().values() if isinstance(value, kind))
