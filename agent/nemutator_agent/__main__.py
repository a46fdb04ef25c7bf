"""`nemutator-agent ROLE`."""

import sys

from nemutator_common import launching

from nemutator_agent.app import observe
from nemutator_agent.settings import ObserveSettings


def main() -> int:
    role = launching.Role(ObserveSettings, observe, "see what runs on this machine, and report it")
    return launching.main("nemutator-agent", [role])


if __name__ == "__main__":
    sys.exit(main())
