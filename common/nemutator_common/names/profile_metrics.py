"""Metrics of profiles and of what ages, which the brain counts."""

from nemutator_common.names.metrics import Metric

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
