"""`nemutator-controller ROLE`."""

import sys

from nemutator_common import launching
from nemutator_common.launching import Role, from_module

from nemutator_controller.settings import AdmissionSettings, BrainSettings

APP = "nemutator_controller.app"
"""Each role imports only what it needs."""

YOUNG_OBJECTS_OF_REPORTS = 100_000
"""A report of a full node is some 3 000, and dozens wait for the disk at once. With fewer the collector took
a fifth of the brain's time with 5 000 nodes, a second at once (measured)."""


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
                from_module(f"{APP}.brain", young_objects=YOUNG_OBJECTS_OF_REPORTS),
                "take reports, keep the history, serve the console",
            ),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
