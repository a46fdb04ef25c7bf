"""The metrics of the controller's processes."""

from nemutator_common.names.metrics import SECONDS, Metric

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

BRAIN_LEADS = Metric(
    "nemutator_brain_leads",
    "gauge",
    "1 while this brain does what only one of several may do, else 0",
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
HISTORY_ROWS = Metric(
    "nemutator_history_rows", "gauge", "containers of whose use there is a history"
)
HISTORY_ROWS_DROPPED = Metric(
    "nemutator_history_rows_dropped_total",
    "counter",
    "containers whose history was dropped, by reason: count (to make room), age (long not reported)",
    ("reason",),
)
HISTORY_USE_ADDED = Metric(
    "nemutator_history_use_added_total",
    "counter",
    "quarters of a minute of a container's use that were added to its history",
)
HISTORY_USE_DROPPED = Metric(
    "nemutator_history_use_dropped_total",
    "counter",
    "quarters of a minute that were not added, by reason: absurd (the numbers), future and late (the"
    " clock, or after half an hour), again (its time is counted), unknown_owner, no_room",
    ("reason",),
)
HISTORY_SAMPLES_WRITTEN = Metric(
    "nemutator_history_samples_written_total",
    "counter",
    "samples that a receiver of remote write has taken",
)
HISTORY_SAMPLES_DROPPED = Metric(
    "nemutator_history_samples_dropped_total",
    "counter",
    "samples that a receiver of remote write has not got, by reason: refused, unreachable (for two hours)",
    ("reason",),
)
HISTORY_MINUTES_SKIPPED = Metric(
    "nemutator_history_minutes_skipped_total",
    "counter",
    "minutes that were not sent by remote write, because they are not kept any more",
)
HISTORY_READ_BACK = Metric(
    "nemutator_history_read_back_total",
    "counter",
    "queries for history that is older than ours, by result (answered, failed, late)",
    ("result",),
)
HISTORY_READ_BACK_DROPPED = Metric(
    "nemutator_history_read_back_dropped_total",
    "counter",
    "samples of their answers that were left out, by reason: not_finite, future, duplicate, unordered and"
    " histogram (the answer), absurd, off_grid and unknown (what nobody asked for)",
    ("reason",),
)
RECOMMENDED_CONTAINERS = Metric(
    "nemutator_recommended_containers",
    "gauge",
    "containers of whose use something is known, by state of their advice (firm, provisional, not_yet)",
    ("state",),
)
WASTED_CORES = Metric(
    "nemutator_wasted_cores", "gauge", "cores that running pods request beyond firm advice"
)
WASTED_BYTES = Metric(
    "nemutator_wasted_bytes", "gauge", "memory that running pods request beyond firm advice"
)
SOURCE_READS = Metric(
    "nemutator_source_reads_total",
    "counter",
    "parts of use that were read from Prometheus, by result (answered, failed)",
    ("result",),
)
SOURCE_SAMPLES_LEARNED = Metric(
    "nemutator_source_samples_learned_total",
    "counter",
    "steps of containers' use from Prometheus that sizing has learnt from",
)
SOURCE_SAMPLES_DROPPED = Metric(
    "nemutator_source_samples_dropped_total",
    "counter",
    "samples and steps of Prometheus that sizing ignored, by reason: not_finite, future, duplicate, unordered and"
    " histogram (the answer), absurd, off_grid and nameless (what cannot be), half (only CPU or only memory),"
    " unknown_owner, unsound, known (learned already) and no_room",
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
PROFILES_PUSHED = Metric(
    "nemutator_profiles_pushed_total",
    "counter",
    "finished profiles for other stores, by destination (pyroscope, parca) and result: pushed, or the"
    " reason of the drop: queue_full, refused, unreachable, gone (removed meanwhile), stopped",
    ("destination", "result"),
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
    " it never has), by snapshot: advice, tombstones, tokens, images",
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
    " (by the setting image_registries), name (it is none), unreachable, timeout, busy, denied, missing,"
    " invalid, digest (not the bytes that it names), too_large, differs (between architectures)",
    ("result",),
)
IMAGE_QUESTIONS_DROPPED = Metric(
    "nemutator_image_questions_dropped_total",
    "counter",
    "images of pods that were not noted, because there were too many or their names were too long",
)
ROTATION_RESTARTS = Metric(
    "nemutator_rotation_restarts_total",
    "counter",
    "pods that were to be evicted because their secrets have changed, by result: evicted, or why not:"
    " not_allowed (now, by a PodDisruptionBudget), unowned (nobody would make another one), failed",
    ("result",),
)
EVICTIONS = Metric(
    "nemutator_evictions_total",
    "counter",
    "pods that people have asked to have evicted and that are no longer in the queue, by result: evicted,"
    " gone (they ended before), failed (the API server refuses), expired, cancelled",
    ("result",),
)
EVICTIONS_OPEN = Metric(
    "nemutator_evictions_open", "gauge", "pods that are in the queue to be evicted"
)
EVICTION_REQUESTS = Metric(
    "nemutator_eviction_requests", "gauge", "requests for evictions that are kept"
)
EVICTION_REQUESTS_DROPPED = Metric(
    "nemutator_eviction_requests_dropped_total",
    "counter",
    "requests for evictions that were removed, by reason: age, count",
    ("reason",),
)
ROLLS = Metric(
    "nemutator_rolls_total",
    "counter",
    "slow rolls that are finished, by result: done, stopped (a pod was not ready in time, or somebody ended"
    " it), failed (it was never begun, or the workload is gone)",
    ("result",),
)
ROLLS_OPEN = Metric("nemutator_rolls_open", "gauge", "slow rolls that are not finished")
ROLLS_KEPT = Metric("nemutator_kept_rolls", "gauge", "slow rolls that are kept, finished ones too")
ROLLS_DROPPED = Metric(
    "nemutator_rolls_dropped_total",
    "counter",
    "slow rolls that were removed, by reason: age, count",
    ("reason",),
)
FOLLOWED = Metric(
    "nemutator_followed_pods_total",
    "counter",
    "running pods and workloads whose labels or annotations were to follow a policy or a token, by result: written,"
    " conflict (somebody wrote it at the same time: planned again), foreign (somebody else has changed our"
    " value: it stays), disputed (somebody else keeps reverting our value: it is left alone for some time),"
    " refused (by the API server), no_room (for the stamp)",
    ("result",),
)
MISSED = Metric(
    "nemutator_missed_pods_found_total",
    "counter",
    "pods that run unchanged although a policy or their own label asks for a change, by result: told (an"
    " Event), evicted (told, and in the queue of evictions), not_read (there were too many to ask the API server about)",
    ("result",),
)
MISSED_PODS = Metric(
    "nemutator_missed_pods",
    "gauge",
    "pods that admission has missed and that run still, up to 1 000",
)
FOLLOWING_DUE = Metric(
    "nemutator_following_due",
    "gauge",
    "running pods and workloads that have to be read, because they, a policy or a token have changed",
)
FOLLOWING_DISPUTED = Metric(
    "nemutator_following_disputed",
    "gauge",
    "labels and annotations of workloads that are left alone for now, because somebody else keeps reverting"
    " them",
)
RESIZES = Metric(
    "nemutator_resizes_total",
    "counter",
    "resizes of running pods by SizingPolicies, by result: given, conflict (somebody wrote the pod at the same time:"
    " tried again), refused (by the API server, or there is no room for the stamp), unreachable (tried again),"
    " deferred, infeasible and error (what kubelet said of a resize that was given), foreign (somebody else has"
    " changed our value: it stays), evicted (its resize was not possible), not_evicted (a budget, or an error)",
    ("result",),
)
RESIZES_WAITING = Metric(
    "nemutator_resizes_waiting",
    "gauge",
    "running pods that a SizingPolicy would change, and that wait",
)
RESIZES_PAUSED = Metric(
    "nemutator_resizes_paused",
    "gauge",
    "1 while no pod is resized because no replica of admission was heard of lately",
)
SIZING_STATUSES = Metric(
    "nemutator_sizing_statuses_total",
    "counter",
    "statuses of SizingPolicies that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
SEASONS = Metric(
    "nemutator_seasons",
    "gauge",
    "workloads by their season now: off-peak, pre-peak, peak, surprise, flat (they have none), unknown (it cannot"
    " be told)",
    ("season",),
)
CLUSTER_SEASON = Metric(
    "nemutator_cluster_season",
    "gauge",
    "1 for the season of the cluster, or of the machine that stands alone; 0 for the others",
    ("season",),
)
SEASON_WORKLOADS = Metric(
    "nemutator_season_workloads",
    "gauge",
    "workloads whose use is kept by day to find their seasons",
)
SEASON_POINTS_DROPPED = Metric(
    "nemutator_season_points_dropped_total",
    "counter",
    "quarters of a minute of use that count in no season, by reason: late (their slot is over, or their time is not"
    " now), no_room (brain.season_workloads), absurd",
    ("reason",),
)
SEASON_SWITCHES = Metric(
    "nemutator_season_switches_total",
    "counter",
    "policies that were switched with a season, by kind and by what they became: on, off",
    ("kind", "to"),
)
POLICIES_IN_SEASON = Metric(
    "nemutator_policies_in_season",
    "gauge",
    "policies with when.season that are in force now, by kind",
    ("kind",),
)
SEASON_STATUSES = Metric(
    "nemutator_season_statuses_total",
    "counter",
    "conditions InForce of policies that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
AGED_WORKLOADS = Metric(
    "nemutator_aged_workloads",
    "gauge",
    "workloads whose processes are read unasked, by verdict: leak, drift, hot_spot_grew, steady,"
    " cannot_tell",
    ("verdict",),
)
WINDOWS_DROPPED = Metric(
    "nemutator_windows_dropped_total",
    "counter",
    "readings of quiet windows that the brain has removed, by reason: age, quota (a workload had more"
    " than its part), bytes (all of them were larger than the setting window_bytes)",
    ("reason",),
)
