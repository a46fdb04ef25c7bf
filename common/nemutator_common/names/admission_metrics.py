"""Metrics of admission, and of what the brain tells it: policies, tokens, images."""

from nemutator_common.names.metrics import SECONDS, Metric

ADMISSIONS = Metric(
    "nemutator_admissions_total",
    "counter",
    "pods under review, by result: patched, unchanged, preview, dry_run, denied (the pod must not run"
    " without us, and cannot be injected; or a policy does not allow its images), failed (let in unchanged: see"
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
    " policies_unknown (they have not been listed yet), no_object, bad_object, self_check, too_large,"
    " spool_full, disk, disk_slow, late, internal;"
    " namespace_unknown (policies that select namespaces did not match)",
    ("reason",),
)
ADMISSION_EDITS = Metric(
    "nemutator_admission_edits_total", "counter", "fields of pods that were changed", ("verb",)
)
ADMISSION_PLANS = Metric(
    "nemutator_admission_plans_total",
    "counter",
    "plans for pods, by origin: made, known (it was made before, for a pod that says the same)",
    ("origin",),
)
STAMPS_NOT_TOLD = Metric(
    "nemutator_admission_stamps_not_told_total",
    "counter",
    "stamps of new pods that other processes on the same port do not know of, by reason: full, too_large, refused",
    ("reason",),
)
IMAGE_OFFENDERS = Metric(
    "nemutator_admission_image_offenders_total",
    "counter",
    "images of pods that a policy does not allow, by result: previewed (the policy is a preview), warned,"
    " refused (with their pod)",
    ("result",),
)
IMAGES_UNPINNED = Metric(
    "nemutator_admission_images_unpinned_total",
    "counter",
    "images of pods that a policy wants pinned and that kept their tag, by reason: awaited (the brain is"
    " looking its digest up), unread (its registry does not tell: see nemutator_image_reads_total), off (no"
    " registry is asked)",
    ("reason",),
)
LABELS_LEFT = Metric(
    "nemutator_admission_labels_left_total",
    "counter",
    "labels that policies would have changed and that were left alone, by reason: selected (the workload may find its"
    " pods by it), unwanted (its selector wants pods without it)",
    ("reason",),
)
PLACEHOLDERS_UNRESOLVED = Metric(
    "nemutator_placeholders_unresolved_total",
    "counter",
    "placeholders of pods that stayed as they were, by reason: unknown (the token store has no such"
    " key), unfit (the value does not fit there), kept (a workload may find its pods by it, or it was"
    " taken back), not_injected (a reference to Vault in a container that nemutator-exec does not start)",
    ("reason",),
)
TOKENS = Metric("nemutator_tokens", "gauge", "tokens that the brain has read from the token store")
TOKENS_AGE = Metric(
    "nemutator_tokens_age_seconds",
    "gauge",
    "seconds since what is known of the token store was true; it grows while the store cannot be read",
)
TOKENS_LEFT_OUT = Metric(
    "nemutator_tokens_left_out",
    "gauge",
    "tokens of the store that do not count, by reason: key (it is no placeholder), value (it is no text,"
    " or too long), room (there are too many)",
    ("reason",),
)
TOKENS_FAILURES = Metric(
    "nemutator_tokens_failures_total",
    "counter",
    "failures to read the token store, by reason: file, malformed, late, connection, refused; the tokens"
    " that were read last stay in use",
    ("reason",),
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
    " it never has), by snapshot: advice, tombstones, tokens, images, seasons, talkers, unwanted",
    ("snapshot",),
)
SNAPSHOT_FAILURES = Metric(
    "nemutator_snapshot_failures_total",
    "counter",
    "failures to fetch a snapshot, by snapshot and reason: those of nemutator_uplink_failures_total, and"
    " malformed; the previous snapshot stays in use",
    ("snapshot", "reason"),
)
IMAGES = Metric(
    "nemutator_images",
    "gauge",
    "images of pods that declare variables, or that policies pin, by state: read, unread",
    ("state",),
)
IMAGE_READS = Metric(
    "nemutator_image_reads_total",
    "counter",
    "images that were looked at in their registry, by result: read, unchanged, or why not: not_allowed"
    " (by the setting image_registries), name (it is none), unreachable, timeout, busy, denied,"
    " pull_secret (it cannot be used), missing, invalid, digest (not the bytes that it names), too_large, differs (between architectures)",
    ("result",),
)
IMAGE_QUESTIONS_DROPPED = Metric(
    "nemutator_image_questions_dropped_total",
    "counter",
    "images of pods that were not noted, because there were too many or their names were too long",
)
NODE_STATUSES = Metric(
    "nemutator_node_statuses_total",
    "counter",
    "statuses of nodes that admission was asked about, by result: amplified (the CPU that pods may request was raised, or raised"
    " again), unchanged (it says so already), and left as they came: not_enabled (the node has no label), not_asked (it has no ratio), ratio (that"
    " is none), no_cpu (its amounts are none), raw_unknown (its kubelet has not said yet what it has), bad_object, not_a_status, internal",
    ("result",),
)
