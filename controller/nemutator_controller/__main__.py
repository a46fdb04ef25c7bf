"""`nemutator-controller ROLE`."""

import sys

from nemutator_common import launching
from nemutator_common.launching import Role, from_module
from nemutator_common.old_objects import OldObjects

from nemutator_controller.settings.admission import AdmissionSettings
from nemutator_controller.settings.brain import BrainSettings

APP = "nemutator_controller.app"
"""Each role imports only what it needs."""

PIECES_OF_ADMISSION = 700_000
"""Of memory. Its code and full caches are as many, and answers leave nothing to the collector: it examines all of them only when
they are twice as many. What it finds then took some 60 MiB at the most."""


def main() -> int:
    return launching.main(
        "nemutator-controller",
        [
            Role(
                AdmissionSettings,
                from_module(
                    f"{APP}.admission", old_objects=OldObjects(few=0, fewest=PIECES_OF_ADMISSION)
                ),
                "answer the API server when pods are made",
            ),
            Role(
                BrainSettings,
                from_module(f"{APP}.brain", old_objects=OldObjects()),
                "take reports, keep the history, serve the console",
            ),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
