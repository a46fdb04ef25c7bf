"""Writes deploy/crds from the typed models of our custom resources."""

import json
import sys
from pathlib import Path

from nemutator_controller.policies import crds
from nemutator_controller.policies.model import PLURAL

TARGET = Path(__file__).parents[1] / "deploy" / "crds" / f"{PLURAL}.json"


def render() -> str:
    return json.dumps(crds.definition(), indent=2) + "\n"


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
