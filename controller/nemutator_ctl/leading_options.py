"""Options before the command, where kubectl takes them too: `nemutator --context west mutations`."""

from collections.abc import Sequence

WITH_VALUE = frozenset(
    {
        *("--context", "--kubeconfig", "--as-account"),
        *("--brain", "--brain-token-file", "--brain-ca-file", "--data-dir", "--config"),
        *("-n", "--namespace", "-o", "--output", "-l", "--selector"),
    }
)
ALONE = frozenset({"-A", "--all-namespaces"})


def behind(argv: Sequence[str]) -> list[str]:
    """*argv* with the command first, and the options that stood before it right behind it."""
    before: list[str] = []
    rest = list(argv)
    while rest:
        word = rest[0]
        if word in ALONE or ("=" in word and word.partition("=")[0] in WITH_VALUE):
            taken = 1
        elif word in WITH_VALUE:
            taken = 2
        else:
            break
        before += rest[:taken]
        rest = rest[taken:]
    return [*rest[:1], *before, *rest[1:]]
