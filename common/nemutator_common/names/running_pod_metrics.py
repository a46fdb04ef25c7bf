"""Metrics of what the brain does to pods and workloads that run."""

from nemutator_common.names.metrics import Metric

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
    " kept (a label by which a Service finds a pod that runs, or that its workload does not want), refused (by the API"
    " server), no_room (for the stamp)",
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
HOURLY_CONTAINERS = Metric(
    "nemutator_hourly_containers",
    "gauge",
    "containers whose SizingPolicy follows their CPU hourly, by state: followed, or waits (ordinary advice holds:"
    " `nemutator explain` says why)",
    ("state",),
)
HOURLY_STEPS = Metric(
    "nemutator_hourly_steps_total",
    "counter",
    "hourly requests of containers, by result: changed or same, compared with the hour before",
    ("result",),
)
SIZING_STATUSES = Metric(
    "nemutator_sizing_statuses_total",
    "counter",
    "statuses of SizingPolicies that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
