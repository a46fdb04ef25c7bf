import re
from pathlib import Path

from nemutator_common.names import season_metrics
from nemutator_common.names.metrics import Metric


def test_each_is_kept_by_the_controller() -> None:
    sources = (Path(__file__).parents[3] / "controller").rglob("*.py")
    used = {
        name for path in sources for name in re.findall(r"\bnames\.([A-Z_]+)", path.read_text())
    }
    declared = {name for name, kept in vars(season_metrics).items() if isinstance(kept, Metric)}
    assert declared
    assert declared <= used
