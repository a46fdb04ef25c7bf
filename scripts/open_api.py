"""Writes docs/openapi.json from the types of the brain's API."""

import json
from pathlib import Path

from nemutator_common import __version__
from nemutator_controller.app.api_paths import PATHS
from nemutator_controller.console.open_api import open_api

TARGET = Path(__file__).parents[1] / "docs" / "openapi.json"


def render() -> str:
    return json.dumps(open_api(PATHS, version=__version__), indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render())
