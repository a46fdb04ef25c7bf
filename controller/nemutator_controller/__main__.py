"""`nemutator-controller ROLE`."""

import sys

from nemutator_common import launching
from nemutator_common.launching import Role, from_module
from nemutator_common.old_objects import OldObjects

from nemutator_controller.settings.admission import AdmissionSettings
from nemutator_controller.settings.brain import BrainSettings

APP = "nemutator_controller.app"
"""Each role imports only what it needs."""


def main() -> int:
    return launching.main(
        "nemutator-controller",
        [
            Role(
                AdmissionSettings,
                from_module(f"{APP}.admission"),
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
