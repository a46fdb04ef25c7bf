"""Strangers' words in what people read: a process chooses its name, and those of its files."""


def printable(text: str, *, longest: int) -> str:
    """*text* with an escape for whatever does not print, at most *longest* characters."""
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text[: longest + 1]
    )
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
