/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks the agent asks about, and what programs they run. */
#ifndef SELECTION_H
#define SELECTION_H

#include "control_groups.h"
#include "maps.h"

enum selection {
	SELECT_PROCESS = 1,
	SELECT_GROUP = 2,    /* of the one hierarchy of version 2 */
	SELECT_V1_GROUP = 3, /* of the hierarchy of one controller of version 1 */
};

/* What the agent asks for before the program is loaded. Nothing else is a constant of this object:
 * the agent writes all of them at once.
 */
const volatile struct wish {
	u64 wanted; /* a tgid, or the id of a control group: the inode number of its directory */
	u64 seed;   /* nobody may know beforehand which stacks share a hash */
	u32 selection;
	u32 controller;
	u32 deepest; /* what kernel.perf_event_max_stack leaves of DEEPEST */
	u32 threads; /* whether they are told apart */
} wish = {.selection = SELECT_PROCESS, .deepest = DEEPEST};

/*
 * From the task's own group upwards. The helper for this, bpf_get_current_ancestor_cgroup_id, knows
 * version 2 only, and perf events may not call it before Linux 5.15.
 */
INLINE bool in_group(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 controller = wish.selection == SELECT_GROUP ? NO_CONTROLLER : wish.controller;
	struct cgroup_subsys_state *state = group_state(task, controller);

	for (int level = 0; level < MOST_LEVELS && state; level++) {
		if (group_id(state) == wish.wanted)
			return 1;
		state = READ_KERNEL(state, parent);
	}
	return 0;
}

/*
 * A process that calls exec keeps its number, and a number is used again: what its addresses were
 * is only to be read in the same program. Where its stack begins is told by /proc/PID/stat, too.
 */
INLINE u64 image(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *memory = READ_KERNEL(task, mm);

	return memory ? READ_KERNEL(memory, start_stack) : 0;
}

/* Have the agent look at a program that is seen for the first time, or anew since it looked. */
INLINE void announce(const struct row *row)
{
	struct task key = {.tgid = row->tgid, .image = row->image};
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *memory = READ_KERNEL(task, mm);
	struct program program = {};
	struct inode *inode;
	struct file *file;

	if (!memory || bpf_map_lookup_elem(&programs, &key))
		return;
	program.code = READ_KERNEL(memory, start_code);
	file = READ_KERNEL(memory, exe_file);
	inode = file ? READ_KERNEL(file, f_inode) : 0;
	if (inode) {
		program.inode = READ_KERNEL(inode, i_ino);
		program.device = READ_KERNEL(READ_KERNEL(inode, i_sb), s_dev);
	}
	bpf_map_update_elem(&programs, &key, &program, BPF_NOEXIST);
}

INLINE bool is_wanted(u32 tgid)
{
	return wish.selection == SELECT_PROCESS ? tgid == wish.wanted : in_group();
}

#endif
