"""What may still look like a credential in text that goes into a report, taken out by its form."""

import re

INSTEAD = "(left out)"

_FORMS = (
    # Name and password of an address: of a database, a proxy, a registry.
    (re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)[^/\s\"'<>@]{1,400}@"), rf"\1{INSTEAD}@"),
    (re.compile(r"\b([Bb]earer|[Bb]asic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {INSTEAD}"),
    # Tokens of Vault, of Kubernetes and other signed ones, keys of S3.
    (re.compile(r"\bhv[sbr]\.[A-Za-z0-9_-]{8,}"), INSTEAD),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?"), INSTEAD),
    (re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"), INSTEAD),
)

_NAMED = re.compile(
    r"(?i)((?:password|passwd|secret|token|credential|api[_-]?key|access[_-]?key)[a-z0-9_-]{0,40}[\"']?\s{0,3}[=:]\s{0,3}[\"']?)"
    r"[^\s\"',;&]{1,400}"
)


def without_credentials(text: str) -> str:
    """*text* without what has the form of a credential."""
    for form, instead in _FORMS:
        text = form.sub(instead, text)
    return text


def without_any_value(text: str) -> str:
    """The same of a sentence, in which also the value goes that follows a word like `password=`."""
    return _NAMED.sub(rf"\1{INSTEAD}", without_credentials(text))
