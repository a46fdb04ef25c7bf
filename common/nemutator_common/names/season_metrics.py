"""Metrics of seasons, which the brain counts."""

from nemutator_common.names.metrics import Metric

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
