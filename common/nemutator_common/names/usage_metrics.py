"""Metrics of use that is learnt, kept and turned into advice, which the brain counts."""

from nemutator_common.names.metrics import Metric

HISTORY_POINTS = Metric(
    "nemutator_history_points", "gauge", "points of history in the database, of all nodes"
)
HISTORY_DROPPED = Metric(
    "nemutator_history_dropped_total",
    "counter",
    "points of history that were removed, by reason: age, count, full (to make room)",
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
EXPORT_FILES = Metric(
    "nemutator_export_files_total",
    "counter",
    "hours of an export, by what became of them: written, empty (there was nothing to say), missed (the brain was"
    " away for too long), or why the bucket did not take them, which is tried again",
    ("export", "result"),
)
EXPORT_BYTES = Metric(
    "nemutator_export_bytes_total", "counter", "bytes of files that were exported", ("export",)
)
EXPORT_NEWEST = Metric(
    "nemutator_export_newest_timestamp_seconds",
    "gauge",
    "the end of the last hour of which a file was exported",
    ("export",),
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
    "queries for history that is older than ours, by result (answered, warned, failed, late)",
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
    "parts of use that were read from Prometheus, by result (answered, warned: the source says that something is amiss,"
    " such as that a part is missing, failed)",
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
