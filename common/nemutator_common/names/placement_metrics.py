"""Metrics of neighbours and of placement, which the brain counts."""

from nemutator_common.names.metrics import Metric

NEIGHBOUR_POINTS_DROPPED = Metric(
    "nemutator_neighbour_points_dropped_total",
    "counter",
    "what neighbours are not judged by, by reason: late (older than an hour), ahead (of the brain's clock), rows"
    " (a node has more containers than are told apart), remembered (more pods and workloads than have a week)",
    ("reason",),
)
NEIGHBOUR_LINKS = Metric(
    "nemutator_neighbour_links",
    "gauge",
    "pairs of containers of which one suffers when the other is busy, by the last look",
)
NEIGHBOUR_NODES_LEFT = Metric(
    "nemutator_neighbour_nodes_left",
    "gauge",
    "nodes that the last look at neighbours had no time for: they are the first of the next",
)
NEIGHBOUR_PODS = Metric(
    "nemutator_neighbour_pods",
    "gauge",
    "pods that suffer from their neighbours (victim) or make them suffer (aggressor) now, by grade from 1 to 4",
    ("role", "grade"),
)
NEIGHBOURS_UNTOLD = Metric(
    "nemutator_neighbours_untold",
    "gauge",
    "containers of which nobody can tell whether they suffer",
)
NEIGHBOUR_LABELS = Metric(
    "nemutator_neighbour_labels_total",
    "counter",
    "writes of grades as labels of pods and workloads, by result: written, refused",
    ("result",),
)
NEIGHBOUR_LABELS_DUE = Metric(
    "nemutator_neighbour_labels_due",
    "gauge",
    "pods and workloads whose labels of grades are not what they should be",
)
NEIGHBOUR_LABELS_DISPUTED = Metric(
    "nemutator_neighbour_labels_disputed",
    "gauge",
    "labels of grades that are left alone for now, because somebody else keeps changing them",
)
PLACEMENTS_SCORED = Metric(
    "nemutator_placements_scored_total",
    "counter",
    "questions of schedulers for scores of nodes, by result: scored, unknown (the brain knows no nodes: all have 0),"
    " invalid",
    ("result",),
)
PLACEMENT_SECONDS = Metric(
    "nemutator_placement_seconds",
    "histogram",
    "seconds that the scores of one pod took, from the whole question to the answer",
    (),
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
)
PLACEMENT_SNAPSHOT_AGE = Metric(
    "nemutator_placement_snapshot_age_seconds",
    "gauge",
    "how old what the brain knew of nodes was when it last scored them",
)
TALKING_WORKLOADS = Metric(
    "nemutator_talking_workloads",
    "gauge",
    "workloads of whose talkers admission is told, and of whom nothing is told for want of room; state: told, left_off",
    ("state",),
)
BUFFER_PODS = Metric(
    "nemutator_buffer_pods",
    "gauge",
    "pods that keep room free: wanted (by the SeasonPolicy in force), standing (that the object asks for now)",
    ("state",),
)
BUFFER_WRITES = Metric(
    "nemutator_buffer_writes_total",
    "counter",
    "changes of the number of pods that keep room free, by result: written, refused, left (it stays taken back)",
    ("result",),
)
NODE_MARKS = Metric(
    "nemutator_node_marks",
    "gauge",
    "nodes that bear a taint, a label or an annotation of ours, by its name",
    ("mark",),
)
NODE_MARK_WRITES = Metric(
    "nemutator_node_mark_writes_total",
    "counter",
    "writes of those, by result: written, refused",
    ("result",),
)
PACKED_NODES = Metric(
    "nemutator_packed_nodes",
    "gauge",
    "nodes that are emptied because a SeasonPolicy packs, by state: emptying, removable (nothing runs there any more)",
    ("state",),
)
FORECAST_SCALERS = Metric(
    "nemutator_forecast_scalers",
    "gauge",
    "ForecastScalers by why the minimum is what it is: forecast (it is raised), base (the forecast asks for no more), preview,"
    " low_skill, no_forecast, stale (nothing was reported lately), surprise (more is used than was foreseen: it stays), settling"
    " (less would be enough, but not for long enough), guard, no_cpu_metric, no_request, no_autoscaler, another_scaler (of the"
    " same autoscaler), most_raised (brain.raised_autoscalers), taken_back, disputed (somebody else keeps changing it), refused,"
    " store (the journal does not answer), faulty",
    ("reason",),
)
MINIMUM_WRITES = Metric(
    "nemutator_minimum_writes_total",
    "counter",
    "writes of minReplicas of autoscalers, by result: raised (to what is foreseen, also from more), given_back (to what its owner"
    " wrote), refused",
    ("result",),
)
SCALER_STATUSES = Metric(
    "nemutator_scaler_statuses_total",
    "counter",
    "statuses of ForecastScalers that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
OPPORTUNISTIC_REPLICAS = Metric(
    "nemutator_opportunistic_replicas",
    "gauge",
    "replicas of a workload for which there is spare CPU, by its ForecastScaler; its base while nobody knows, no number once it"
    " is gone",
    ("namespace", "scaler"),
)
SPARE_CPU = Metric(
    "nemutator_spare_cpu_cores",
    "gauge",
    "CPU of nodes that ForecastScalers may share: without the reserve, what others request, and what is expected to be used",
)
OVERSOLD_NODES = Metric(
    "nemutator_oversold_nodes",
    "gauge",
    "nodes by what bounds how much of their CPU is oversold, or keeps it from being: asked, season, use, pressure, requests (of what"
    " runs there), stepping (slowly up), measuring (too little is known), stale, silent (no reports for longer), taken_back, disputed,"
    " preview, not_enabled (they have no label), most (brain.oversell_nodes), refused (no right), unselected, not_counted (their CPU is not"
    " known)",
    ("reason",),
)
OVERSELL_WRITES = Metric(
    "nemutator_oversell_writes_total",
    "counter",
    "ratios that the brain wrote to nodes, by result: raised, lowered, removed, changed (meanwhile: tried again), refused",
    ("result",),
)
OVERSELL_STATUSES = Metric(
    "nemutator_oversell_statuses_total",
    "counter",
    "statuses of NodeOversells that the brain wrote, by result: written, failed (tried again)",
    ("result",),
)
