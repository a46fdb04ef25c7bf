"""Minutes of history as series of Prometheus, some rows at a time."""

from collections.abc import Mapping

import numpy as np

from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import CELLS, MINUTE_S
from nemutator_controller.history.remote_write_messages import labels, series
from nemutator_controller.history.usage_history import UsageHistory

PREFIX = "nemutator_container_"
"""Then the figure: the sum of all pods. With `_pod_max`: the most that one pod used."""

SETTLES_S = 75.0
"""A minute is written when it has been over for so long: agents report at least once in a minute. What comes
later is in our history, but not there: a sample that was written cannot be changed."""


def oldest_kept(usage: UsageHistory) -> int:
    """The first minute that is still whole."""
    return usage.newest + 2 - CELLS


def rows_of(usage: UsageHistory) -> int:
    return usage.rows.used


def written_minute(
    usage: UsageHistory, minute: int, rows: slice, *, external: Mapping[str, str]
) -> list[bytes]:
    """The series of *rows* in *minute*, with a sample at its end; *external* labels are of all of them."""
    view = usage.minutes.view(rows, np.array([minute]))
    at_ms = (minute + 1) * MINUTE_S * 1000
    written = []
    begin = rows.start or 0
    for place in np.flatnonzero(view.seconds[:, 0] > 0).tolist():
        key = usage.rows.key(begin + place)
        if key is None:
            continue
        shared = labels(
            {
                **external,
                "namespace": key.namespace,
                "owner_kind": key.owner_kind,
                "owner": key.owner,
                "container": key.container,
            }
        )
        found = {"pods": view.pods[place, 0]}
        for figure, values in view.mean.items():
            found[figure] = values[place, 0]
            found[f"{figure}_pod_max"] = view.most[figure][place, 0]
        written += [
            series(_NAMES[name] + shared, float(value), at_ms)
            for name, value in found.items()
            if not np.isnan(value)
        ]
    return written


def _names() -> dict[str, bytes]:
    figures = [one.name for one in FIGURES]
    all_names = ["pods", *figures, *(f"{name}_pod_max" for name in figures)]
    return {name: labels({"__name__": PREFIX + name}) for name in all_names}


_NAMES = _names()
