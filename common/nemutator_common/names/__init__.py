"""The vocabulary: every metric, log key, word and role, declared once with its meaning.

A name that is not here does not exist: meters refuse undeclared metrics, a house test refuses log
keys written as plain strings, and the tables in docs/reference.md are generated from this package.
All code writes `names.NAME`, wherever in this package that stands.
"""

from nemutator_common.names.admission_metrics import *
from nemutator_common.names.agent_metrics import *
from nemutator_common.names.all_names import *
from nemutator_common.names.controller_metrics import *
from nemutator_common.names.log_keys import *
from nemutator_common.names.metrics import *
from nemutator_common.names.placement_metrics import *
from nemutator_common.names.profile_metrics import *
from nemutator_common.names.running_pod_metrics import *
from nemutator_common.names.season_metrics import *
from nemutator_common.names.spans import *
from nemutator_common.names.usage_metrics import *
from nemutator_common.names.words import *
