"""`nemutator-controller ROLE`."""

import sys

from nemutator_common import launching
from nemutator_common.launching import Role

from nemutator_controller.app import run
from nemutator_controller.settings import BrainSettings


def main() -> int:
    return launching.main(
        "nemutator-controller",
        [Role(BrainSettings, run, "take reports, keep the history, serve the console")],
    )


if __name__ == "__main__":
    sys.exit(main())
