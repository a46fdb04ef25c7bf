"""The metrics of the agent's processes."""

from nemutator_common.names.metrics import SECONDS, Metric

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
FLOW_READINGS = Metric(
    "nemutator_flow_readings_total",
    "counter",
    "looks at the connections of a pod, by result: done, denied (not allowed), ended (the pod), many"
    " (sockets), slow, failed",
    ("result",),
)
FLOWS_DROPPED = Metric(
    "nemutator_flows_dropped_total",
    "counter",
    "peers of pods that were found and not reported, by reason: full",
    ("reason",),
)
INSPECTIONS = Metric(
    "nemutator_inspections_total",
    "counter",
    "executables whose runtime was asked for, by result: done, died, hung, slow or invalid (the"
    " worker was replaced), unconfined (it could not give up its rights, and read nothing), stuck (a"
    " file system does not answer), queue_full",
    ("result",),
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

POD_SOCKETS = Metric("nemutator_pod_sockets", "gauge", "volumes of pods whose socket is served")
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
    "times that the files of a pod had to be written, by result: written, or what kept them: disk,"
    " size, room (of the node), mode (they are for one user), or the step at which the pod was refused;"
    " and owner: written, but without the capability to give them to the pod's user",
    ("result",),
)
FILES_BYTES = Metric(
    "nemutator_credentials_files_bytes", "gauge", "bytes of the files of all pods; at most 32 MiB"
)
ROTATION_SIGNALS = Metric(
    "nemutator_rotation_signals_total",
    "counter",
    "signals to containers whose secrets have changed, by result: sent, or why not: uncaught (the process"
    " does not catch it), container (no process of that container), forbidden (by the kernel)",
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
LEASED_SECRETS = Metric(
    "nemutator_leased_secrets", "gauge", "secrets that Vault has lent to pods of this node"
)
VAULT_TOKENS = Metric("nemutator_vault_tokens", "gauge", "Vault tokens that are held for pods")
RECOVERED_TOKENS = Metric(
    "nemutator_recovered_tokens_total",
    "counter",
    "Vault tokens that an earlier run of the credentials process has left, by what became of them:"
    " adopted (by their pod); revoked because they were superseded, their pod has ended, or it was not"
    " published again in time (orphaned); unknown (a login whose answer was never seen)",
    ("result",),
)
RECOVERED_LEASES = Metric(
    "nemutator_recovered_leases_total",
    "counter",
    "leases of Vault from before the start of this process that their pods go on with",
)
KEPT_LEASES = Metric(
    "nemutator_kept_leases_total",
    "counter",
    "secrets that Vault has lent to a pod, by whether it also keeps them, in the cubbyhole of the pod's token, for"
    " the next run of this process: kept, denied (by its policies), too_large",
    ("result",),
)
LEDGER_FAILURES = Metric(
    "nemutator_ledger_failures_total",
    "counter",
    "failures of the ledger of Vault tokens, by reason: unreadable, damaged, write, too_large, full"
    " (an older entry was dropped), served (digests of what pods were given)",
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
    "profiles requested of this node, by result: done, or the reason of the refusal: busy, cgroup, gone, heap,"
    " internal, kernel, libbpf, request, rights, symbols",
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
    " replaced), unconfined (it could not give up its rights, and read nothing)",
    ("result",),
)
PROFILE_SAMPLES = Metric(
    "nemutator_profile_samples_total",
    "counter",
    "samples of profiled targets, by result: recorded, or the reason of the loss: no_stack, stacks_full,"
    " rows_full, map_busy, session_full, unread",
    ("result",),
)
PROFILE_OUTCOMES_DROPPED = Metric(
    "nemutator_profile_outcomes_dropped_total",
    "counter",
    "outcomes of profiles that were dropped before the brain had them, by reason: outbox_full,"
    " malformed, too_large",
    ("reason",),
)
WINDOW_PROCESSES = Metric(
    "nemutator_window_processes",
    "gauge",
    "processes of this node by what quiet windows make of them: followed, or why they are not looked at:"
    " not_go, young, not_chosen (by annotation, namespace or label; or nothing is known of its pod),"
    " over_cap",
    ("state",),
)
WINDOW_READINGS = Metric(
    "nemutator_window_readings_total",
    "counter",
    "looks of quiet windows at one process, by window (heap, cpu) and result: done; gone; yielded (a"
    " whole CPU window, because somebody asked for a profile); or the reason of the failure, as of"
    " profiles",
    ("window", "result"),
)
WINDOW_CPU_SECONDS = Metric(
    "nemutator_window_cpu_seconds_total",
    "counter",
    "CPU time of observe and its workers while a window was read, in seconds",
)
WINDOWS_STOPPED = Metric(
    "nemutator_windows_stopped",
    "gauge",
    "1 while quiet windows stand still, because they would pass a budget, by reason: cpu, memory,"
    " sampling (the kernel refuses it: windows of CPU time alone)",
    ("reason",),
)
RUN_QUEUE_TURNS_LOST = Metric(
    "nemutator_run_queue_turns_lost_total",
    "counter",
    "turns of threads whose wait for a CPU was not timed, by reason: threads (there are more than the"
    " kernel's map has room for)",
    ("reason",),
)
