"""Every key of a structured log line, declared once with its meaning."""

from typing import Self


class Key(str):
    """A key of a structured log line. Its meaning travels with it."""

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        key = super().__new__(cls, name)
        key.meaning = meaning
        return key


REQUEST = Key("request", "id of the HTTP request that this line belongs to")
ROLE = Key("role", "the process of nemutator that wrote the line")
ADDRESS = Key("address", "the address that is listened on or called")
ATTEMPT = Key("attempt", "how many times in a row this has been tried")
BYTES = Key("bytes", "size of the response's body")
CACHED = Key(
    "cached", "true when Vault was not asked, because what it had answered was still fresh"
)
COUNT = Key("count", "a number of objects; the event says of which kind")
DECISION = Key("decision", "id of a decision of admission that changed an object")
DELAY_S = Key("delay_s", "seconds until the next try")
DURATION_MS = Key("duration_ms", "how long it took, in milliseconds")
EPOCH = Key("epoch", "identifies one run of a process: record numbers start again in the next run")
ERROR = Key("error", "what went wrong, shortened and without secrets")
EXIT = Key("exit", "exit code of a process, or the signal that ended it")
IMAGE = Key("image", "a container image, as pods name it")
LISTENER = Key("listener", "name of the listener: a process can have several")
METHOD = Key("method", "HTTP method")
NODE = Key("node", "name of the machine that the line is about")
OBJECT = Key("object", "a Kubernetes object, as `namespace/name`")
OPERATION = Key(
    "operation", "what was done for a caller: read, env, login, renew, revoke, connect, set, delete"
)
PATH = Key("path", "path of the HTTP request, or of a file")
PEER = Key("peer", "the caller at the other end of a connection")
PID = Key("pid", "process id")
POD = Key("pod", "a pod, as `namespace/name`; outside of Kubernetes, the caller")
POD_UID = Key("pod_uid", "uid of a pod")
PROCESS = Key("process", "name of a supervised process")
PROFILE_ID = Key("profile", "id of a profile")
GENERATION = Key("generation", "the how-manyeth holder of a claim a brain is")
REASON = Key("reason", "the reason: one of a few fixed words, the same as in the metric")
RESOURCE = Key("resource", "a resource of the Kubernetes API, in the plural: `pods`")
RESULT = Key("result", "the result: granted, denied or failed; for a pod, patched or preview")
SECRET_NAME = Key("secret", "the name that a pod gives to a secret; never its value")
SEQ = Key("seq", "number of a record within its epoch")
SNAPSHOT = Key(
    "snapshot",
    "what admission has fetched from the brain: advice, tombstones, tokens, images or seasons",
)
POLICY = Key("policy", "name of a policy")
STATE = Key("state", "the state: one of a few fixed words, the same as in the metric")
STATUS = Key("status", "HTTP status of the response")
STREAM = Key("stream", "which records are sent to the brain: reports, grants, decisions or windows")
TASK = Key("task", "name of a task inside a process")
VERDICT = Key("verdict", "what readings of a workload show, in one sentence")
VOLUME = Key("volume", "the id that kubelet gave to a pod's volume")
