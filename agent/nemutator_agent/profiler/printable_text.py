"""Names that strangers chose, in texts for people: those of processes and of their files."""


def printable(text: str, *, longest: int) -> str:
    """*text* with an escape for each character that does not print, cut to *longest* characters."""
    if len(text) <= longest and text.isprintable():
        return text
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text[: longest + 1]
    )
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
