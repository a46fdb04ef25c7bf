"""Writes deploy/crds from the typed models of our custom resources."""

import json
import sys
from pathlib import Path

from nemutator_controller.oversell import crds as oversell_crds
from nemutator_controller.oversell import model as oversell_model
from nemutator_controller.policies import crds as mutation_crds
from nemutator_controller.policies import model as mutation_model
from nemutator_controller.policies import season_crds, season_policies
from nemutator_controller.scaling import crds as scaler_crds
from nemutator_controller.scaling import model as scaler_model
from nemutator_controller.updating import crds as sizing_crds
from nemutator_controller.updating import model as sizing_model

FOLDER = Path(__file__).parents[1] / "deploy" / "crds"
TARGET = FOLDER / f"{mutation_model.PLURAL}.json"
SEASONS = FOLDER / f"{season_policies.SEASON_PLURAL}.json"
SCALERS = FOLDER / f"{scaler_model.PLURAL}.json"
OVERSELL = FOLDER / f"{oversell_model.PLURAL}.json"
SIZING = FOLDER / f"{sizing_model.PLURAL}.json"


def render() -> str:
    return _text(mutation_crds.definition())


def render_sizing() -> str:
    return _text(sizing_crds.sizing_definition())


def render_scalers() -> str:
    return _text(scaler_crds.scaler_definition())


def render_seasons() -> str:
    return _text(season_crds.season_definition())


def render_oversell() -> str:
    return _text(oversell_crds.oversell_definition())


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(render())
    SIZING.write_text(render_sizing())
    SEASONS.write_text(render_seasons())
    SCALERS.write_text(render_scalers())
    OVERSELL.write_text(render_oversell())
    return 0


def _text(definition: object) -> str:
    return json.dumps(definition, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main())
