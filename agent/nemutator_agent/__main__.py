"""`nemutator-agent ROLE`."""

import sys

from nemutator_common import launching
from nemutator_common.launching import Role, from_module

from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_agent.settings.mount import MountSettings
from nemutator_agent.settings.observe import ObserveSettings

APP = "nemutator_agent.app"
"""Each role imports only what it needs, to save memory on every node."""


def main() -> int:
    return launching.main(
        "nemutator-agent",
        [
            Role(
                CredentialsSettings,
                from_module(f"{APP}.credentials"),
                "give secrets to pods, each its own and no other",
                holds_secrets=True,
            ),
            Role(
                MountSettings,
                from_module(f"{APP}.mount"),
                "give pods their directory: kubelet's CSI driver",
                holds_secrets=True,
            ),
            Role(
                ObserveSettings,
                from_module(f"{APP}.observe"),
                "see what runs on this machine, and report it",
            ),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
