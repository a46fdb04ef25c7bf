"""Run by the Python of an environment with statsforecast: reads series, writes forecasts of their next day.

Its arguments: the file of series (`SERIES__DAY` → values before that day), and the file for the forecasts.
"""

import sys
import time
from typing import Any

import numpy as np
from statsforecast.models import (  # type: ignore[import-not-found]
    MSTL,
    AutoETS,
    SeasonalWindowAverage,
)

SLOTS = 288


def main(source: str, target: str) -> None:
    found: dict[str, np.ndarray[Any, Any]] = {}
    spent: dict[str, float] = {}
    for name, past in np.load(source).items():
        values = past.astype(np.float64)
        models = {
            "window_average": SeasonalWindowAverage(
                season_length=SLOTS, window_size=min(7, len(values) // SLOTS)
            ),
            "mstl_ets": MSTL(season_length=SLOTS, trend_forecaster=AutoETS(model="ZZN")),
        }
        for model, made in models.items():
            began = time.process_time()
            found[f"{model}__{name}"] = made.forecast(y=values, h=SLOTS)["mean"]
            spent[model] = spent.get(model, 0.0) + time.process_time() - began
    for model, seconds in spent.items():
        found[f"{model}__spent"] = np.array(seconds)
    np.savez(target, **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
