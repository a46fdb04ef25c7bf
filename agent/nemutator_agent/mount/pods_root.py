"""Where kubelet keeps its pods, for the credentials process, which may not see it.

With version 2 of control groups a container sees its own group as `/`, and the others from there. This
process is privileged and sees the whole tree of the machine.
"""

from nemutator_agent.identity.cgroup_lines import line_of, parse_lines
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import find_pods_root


def pods_root_for(own: str, theirs: str) -> str:
    """What the setting `credentials.pods_root` would have to be, from this process's own
    /proc/PID/cgroup and from *theirs*, both as this process sees them; empty when they do not show it.
    """
    try:
        root = find_pods_root(own, "")
        line = line_of(parse_lines(theirs), root.hierarchy)
    except (ValueError, AttestationError):
        return ""
    if line is None or line.path == "/":
        return ""
    return f"{root.hierarchy}:{root.path}@{line.path}"
