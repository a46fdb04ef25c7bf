/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a task is among the control groups of the machine. */
#ifndef CONTROL_GROUPS_H
#define CONTROL_GROUPS_H

#include "kernel.h"

/* Levels of control groups that are compared: kubelet's containers are at 4, systemd's at 6. */
#define MOST_LEVELS 24

enum controller {
	NO_CONTROLLER, /* the one hierarchy of version 2 */
	CONTROLLER_CPUACCT = 1,
	CONTROLLER_MEMORY = 2,
	CONTROLLER_PIDS = 3,
};

/* Which of the pointers of a css_set is that of the controller; -1 in a kernel without it. */
INLINE int controller_index(u32 controller)
{
	if (controller == CONTROLLER_CPUACCT && KERNEL_HAS_ENUM(cgroup_subsys_id, cpuacct_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, cpuacct_cgrp_id);
	if (controller == CONTROLLER_MEMORY && KERNEL_HAS_ENUM(cgroup_subsys_id, memory_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, memory_cgrp_id);
	if (controller == CONTROLLER_PIDS && KERNEL_HAS_ENUM(cgroup_subsys_id, pids_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, pids_cgrp_id);
	return -1;
}

/* The task's own place in the hierarchy of a controller. */
INLINE struct cgroup_subsys_state *group_state(struct task_struct *task, u32 controller)
{
	struct css_set *set = READ_KERNEL(task, cgroups);
	struct cgroup_subsys_state *state = 0;
	int index;

	if (!set)
		return 0;
	if (controller == NO_CONTROLLER) {
		struct cgroup *group = READ_KERNEL(set, dfl_cgrp);

		return group ? &group->self : 0;
	}
	index = controller_index(controller);
	if (index >= 0)
		bpf_probe_read_kernel(&state, sizeof(state), (void **)&set->subsys + index);
	return state;
}

/* The inode number of its directory, or 0. */
INLINE u64 group_id(struct cgroup_subsys_state *state)
{
	struct cgroup *group = READ_KERNEL(state, cgroup);
	struct kernfs_node *node = group ? READ_KERNEL(group, kn) : 0;

	return node ? READ_KERNEL(node, id) : 0;
}

#endif
