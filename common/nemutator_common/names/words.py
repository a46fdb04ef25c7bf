"""Roles, and the words that pods and people use in Kubernetes, each with its meaning."""

from typing import Self

PREFIX = "nemutator"
"""The prefix of the distribution, of environment variables and of metrics."""

DOMAIN = f"{PREFIX}.io"
"""The domain of our labels, annotations and API groups in Kubernetes."""

API_VERSION = f"{DOMAIN}/v1"
"""The version in the documents that our API and the command line return."""

UP = "up"
BRAIN = "brain"
ADMISSION = "admission"
OBSERVE = "observe"
CREDENTIALS = "credentials"
MOUNT = "mount"
CTL = "ctl"
ROLES = (UP, CTL, BRAIN, ADMISSION, OBSERVE, CREDENTIALS, MOUNT)
"""Each has its own table in the settings file and its own prefix in the environment."""

AS_ROOT = "run `nemutator up` as root, or let it raise `observe` with sudo"
"""The one remedy for what `observe` of an ordinary user may not see or do."""


class Word(str):
    """A label, annotation or other name that is used in objects of a cluster, with its meaning."""

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        word = super().__new__(cls, name)
        word.meaning = meaning
        return word


INJECT = Word(
    f"{DOMAIN}/inject",
    "label of a namespace (`enabled`) or of a pod (`enabled`, `disabled`, `required`): whether"
    " pods get the socket and the init container",
)
SKIP = Word(f"{DOMAIN}/skip", 'annotation of a pod; with `"true"` we leave the pod alone entirely')
SKIP_MUTATION = Word(
    f"{DOMAIN}/skip-mutation",
    "annotation of a pod: verbs that leave it alone, separated by spaces or commas; with `patch`,"
    " changes are computed and logged, and not applied",
)
IN_FORCE = Word(
    f"{DOMAIN}/in-force",
    "in the journal, whether a policy is in force by its season; it is not written to the policy, whose condition"
    " InForce says it",
)
STANDS_FOR = Word(
    f"{DOMAIN}/stands-for",
    "annotation of a manifest, without a cluster: what runs of it, as `[NAMESPACE/]KIND/NAME` with the kind"
    " `unit`, `container`, `program` or `group`, for all containers or as `CONTAINER=…` for each; advice on"
    " it is advice on the manifest, and what the manifest requests counts as requested by it",
)
SECRET_PREFIX = Word(
    f"{DOMAIN}/secret.",
    "prefix of an annotation of a pod; the rest is a name, and the value is a Vault reference"
    " `mount/path[#key]`. The secret is delivered as the file `/run/nemutator/secrets/<name>`",
)
FILE_PREFIX = Word(
    f"{DOMAIN}/file.",
    "prefix of an annotation of a pod; the rest is a name as of a secret, and the value a format (json,"
    " dotenv, properties) with keys, like `dotenv USER=secret/app/db#user`: one file of several secrets",
)
ENVIRONMENT_PREFIX = Word(
    f"{DOMAIN}/env.",
    "prefix of an annotation of a pod; the rest is an environment variable, and the value is a Vault"
    " reference. Containers whose command is known are started with the variable",
)
COMMAND_PREFIX = Word(
    f"{DOMAIN}/command.",
    "prefix of an annotation of a pod; the rest is the name of a container without a `command`, and"
    " the value is the entrypoint of its image as a JSON array of words, so that it can be started"
    " with the pod's variables",
)
ON_ROTATE = Word(
    f"{DOMAIN}/on-rotate",
    "annotation of a pod: what happens when its secrets have changed, after its files have:"
    " `signal:HUP@container` for the first process of a container (HUP, INT, QUIT, TERM, USR1, USR2,"
    " WINCH), `restart` to have the pod evicted, or `none`, which is the default",
)
ROLLED = Word(
    f"{DOMAIN}/rolled",
    "annotation of a workload's template: the id of the slow roll that made its pods anew",
)
VAULT_ROLE = Word(
    f"{DOMAIN}/vault-role",
    "annotation of a pod: the Vault role to log in with; the default is `{namespace}.{serviceaccount}`",
)
VAULT_NAMESPACE = Word(
    f"{DOMAIN}/vault-namespace",
    "annotation of a pod: Vault's namespace that it logs in to and reads in; the default is that of the setting "
    "`credentials.vault_namespace`",
)
PROFILE = Word(
    f"{DOMAIN}/profile",
    "annotation of a pod: a request like `cpu 30s`, `off-cpu 30s` or `heap`, with an optional `at=99hz`"
    " (of `cpu`) and `id=<any>`; a new value is a new request",
)
PROFILE_RESULT = Word(
    f"{DOMAIN}/profile-result",
    "annotation of a pod, written by the brain: id, state (`running`, `done`, `refused: reason`)"
    " and link of the requested profile",
)
AGEING = Word(
    f"{DOMAIN}/ageing",
    "annotation of a pod, written by the brain for as long as a program of its workload grows with age:"
    " the verdict, how fast, and in which line",
)
PRESSURE = Word(
    f"{DOMAIN}/pressure",
    "taint of a node, PreferNoSchedule, written by the brain where `brain.pressure_taints` says so: how much tasks there wait"
    " for CPU, memory or disks, from 1 to 4; and the key of tolerations by `pressureUpTo`",
)
RESERVE = Word(
    f"{DOMAIN}/reserve",
    "taint of a node, NoSchedule, written by the brain on nodes that `brain.reserve_nodes` selects, unless a SeasonPolicy in"
    " force says `reserve: Open`",
)
EMPTYING = Word(
    f"{DOMAIN}/emptying",
    "taint of a node, PreferNoSchedule, written by the brain while it empties the node, and as long as it stays empty",
)
PLACEMENT_GRADE = Word(
    f"{DOMAIN}/placement-grade",
    "label of a node, written by the brain where `brain.placement_labels` says so: how well it suits a pod now, from 1 to 4",
)
MARKED_BY = Word(
    f"{DOMAIN}/marked-by",
    "annotation of a node, written by the brain: of each mark of ours that stands there the namespace of the installation that has"
    " written it, which alone takes it away again",
)
RAISED_MINIMUM = Word(
    f"{DOMAIN}/raised-minimum",
    "annotation of a HorizontalPodAutoscaler, written by the brain while a ForecastScaler raises its minReplicas: what its owner"
    " wrote, what stands there instead, and the journal's record of it",
)
REMOVABLE = Word(
    f"{DOMAIN}/removable",
    "annotation of a node, written by the brain: why nothing runs there any more but what runs on each node, and since when",
)
OVERSELL = Word(
    f"{DOMAIN}/oversell",
    "label of a node: with `enabled`, and only then, its CPU may be oversold",
)
OVERSELL_RATIO = Word(
    f"{DOMAIN}/oversell-ratio",
    "annotation of a node with that label, written by the brain for a NodeOversell with `mode: Apply`: from 1.00 to 2.00, how many"
    " times the CPU that kubelet has for pods they may request together",
)
RAW_CPU = Word(
    f"{DOMAIN}/raw-cpu",
    "annotation of a node, written by the webhook: the CPU that kubelet itself says it has for pods, from which the oversold amount is"
    " made; it is believed from that node's kubelet alone",
)
VICTIM_NOW = Word(
    f"{DOMAIN}/victim-now",
    "label of a pod or a workload, written by the brain: how much it suffers from others on its node in the last five minutes,"
    " from 1 to 4; on the worst of the cluster alone",
)
VICTIM_USUAL = Word(
    f"{DOMAIN}/victim-usual",
    "label of a pod or a workload, written by the brain: how much it suffers from others on its node at the median of seven days,"
    " from 1 to 4; on the worst of the cluster alone",
)
VICTIM_WORST = Word(
    f"{DOMAIN}/victim-worst",
    "label of a pod or a workload, written by the brain: how much it suffers from others on its node at the worst of seven days, without one minute of a hundred,"
    " from 1 to 4; on the worst of the cluster alone",
)
AGGRESSOR_NOW = Word(
    f"{DOMAIN}/aggressor-now",
    "label of a pod or a workload, written by the brain: how much others on its node suffer from it in the last five minutes,"
    " from 1 to 4; on the worst of the cluster alone",
)
AGGRESSOR_USUAL = Word(
    f"{DOMAIN}/aggressor-usual",
    "label of a pod or a workload, written by the brain: how much others on its node suffer from it at the median of seven days,"
    " from 1 to 4; on the worst of the cluster alone",
)
AGGRESSOR_WORST = Word(
    f"{DOMAIN}/aggressor-worst",
    "label of a pod or a workload, written by the brain: how much others on its node suffer from it at the worst of seven days, without one minute of a hundred,"
    " from 1 to 4; on the worst of the cluster alone",
)
PROFILE_WINDOWS = Word(
    f"{DOMAIN}/profile-windows",
    "annotation of a pod: with `off`, or anything but `on`, its processes are not looked at unasked",
)
MUTATION = Word(
    f"{DOMAIN}/mutation",
    "annotation of a pod, written by the webhook: the id and the edits of its mutation, which can be"
    " taken back from it without the journal",
)
RUN_AS_USER = Word(
    f"{DOMAIN}/run-as-user",
    "attribute of a pod's volume, written there without our domain by the webhook: the uid under"
    " which all its containers run, and whose its files are",
)
RUN_AS_GROUP = Word(
    f"{DOMAIN}/run-as-group",
    "attribute of a pod's volume, written there without our domain by the webhook: the gid under"
    " which all its containers run, for which its files are without an `fsGroup`",
)
FS_GROUP = Word(
    f"{DOMAIN}/fs-group",
    "attribute of a pod's volume, written there without our domain by the webhook: the pod's `fsGroup`,"
    " for which its files are",
)
LEADS = Word(
    f"{DOMAIN}/leads",
    'label of a brain\'s pod, `"true"` while that brain does what only one of several may do',
)
CSI_DRIVER = Word(f"agent.{DOMAIN}", "name of the CSI driver that gives a pod its socket")
BRAIN_AUDIENCE = Word(f"brain.{DOMAIN}", "audience of the tokens that agents show to the brain")
VAULT_AUDIENCE = Word("vault", "audience of the tokens that kubelet gives the agent for a pod")

POD_DIRECTORY = "/run/nemutator"
"""Where the agent's volume is mounted in a container; it has `agent.sock` and `secrets/`."""

POD_SOCKET = "agent.sock"

EXEC_DIRECTORY = "/run/nemutator-exec"
"""Where a container finds the program that starts it with its variables. It is no part of the agent's
volume, from which nothing may be executed."""

EXEC_PROGRAM = "nemutator-exec"
