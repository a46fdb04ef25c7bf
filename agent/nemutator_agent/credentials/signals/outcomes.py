"""What has become of a signal."""

import enum


class SignalOutcome(enum.StrEnum):
    SENT = "sent"
    UNCAUGHT = "uncaught"
    CONTAINER = "container"
    FORBIDDEN = "forbidden"


REMEDIES = {
    SignalOutcome.UNCAUGHT: "let the container's first process catch this signal or name another one; a "
    "shell in front of the program has to be left by `exec`",
    SignalOutcome.CONTAINER: "name a container of the pod behind the @, one that runs on",
    SignalOutcome.FORBIDDEN: "the credentials container needs the capability KILL",
}
"""What a person has to do, where it was not sent."""
