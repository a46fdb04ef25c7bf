// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a target spends its CPU time: called by a clock on each CPU, counts equal stacks.
 *
 * Stacks are kept in a hash map under a hash of our own. A STACK_TRACE map loses every stack whose
 * slot is taken (4 % in a trial) and cannot be read in batches. What the agent says is in
 * constants, so that what is not asked for is no code.
 *
 * Nothing is lost uncounted: each tick is of somebody else, or recorded, or lost for a reason.
 * The agent takes stacks and rows out while more come: those have another turn.
 */
#include "maps.h"
#include "goroutines.h"

/* Levels of control groups that are compared: kubelet's containers are at 4, systemd's at 6. */
#define MOST_LEVELS 24

enum selection {
	SELECT_PROCESS = 1,
	SELECT_GROUP = 2,    /* of the one hierarchy of version 2 */
	SELECT_V1_GROUP = 3, /* of the hierarchy of one controller of version 1 */
};

enum controller {
	CONTROLLER_CPUACCT = 1,
	CONTROLLER_MEMORY = 2,
	CONTROLLER_PIDS = 3,
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
	u32 unused;
} wish = {.selection = SELECT_PROCESS, .deepest = DEEPEST};

/* Which of the pointers of a css_set is that of the controller; -1 in a kernel without it. */
INLINE int controller_index(void)
{
	if (wish.controller == CONTROLLER_CPUACCT &&
	    KERNEL_HAS_ENUM(cgroup_subsys_id, cpuacct_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, cpuacct_cgrp_id);
	if (wish.controller == CONTROLLER_MEMORY &&
	    KERNEL_HAS_ENUM(cgroup_subsys_id, memory_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, memory_cgrp_id);
	if (wish.controller == CONTROLLER_PIDS && KERNEL_HAS_ENUM(cgroup_subsys_id, pids_cgrp_id))
		return KERNEL_ENUM(cgroup_subsys_id, pids_cgrp_id);
	return -1;
}

/* The task's own place in the hierarchy that is asked for. */
INLINE struct cgroup_subsys_state *own_state(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct css_set *set = READ_KERNEL(task, cgroups);
	struct cgroup_subsys_state *state = 0;
	int index;

	if (!set)
		return 0;
	if (wish.selection == SELECT_GROUP) {
		struct cgroup *group = READ_KERNEL(set, dfl_cgrp);

		return group ? &group->self : 0;
	}
	index = controller_index();
	if (index >= 0)
		bpf_probe_read_kernel(&state, sizeof(state), (void **)&set->subsys + index);
	return state;
}

/*
 * From the task's own group upwards. The helper for this, bpf_get_current_ancestor_cgroup_id, knows
 * version 2 only, and perf events may not call it before Linux 5.15.
 */
INLINE bool in_group(void)
{
	struct cgroup_subsys_state *state = own_state();

	for (int level = 0; level < MOST_LEVELS && state; level++) {
		struct cgroup *group = READ_KERNEL(state, cgroup);
		struct kernfs_node *node = group ? READ_KERNEL(group, kn) : 0;

		if (node && READ_KERNEL(node, id) == wish.wanted)
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

/*
 * Store the stack and say under which hash. False when it could not be stored: that is counted.
 */
INLINE bool store(struct stack *stack, struct counters *count, u64 *stored)
{
	u64 hash = wish.seed;
	long error;

	for (u32 i = 0; i < DEEPEST && i < stack->depth; i++) {
		hash = (hash ^ stack->at[i]) * 0x9fb21c651e98df25ULL;
		hash ^= hash >> 29;
	}
	/* Never 0, and of its turn. */
	hash = ((hash ^ stack->depth) & ~1ULL) | 2 | (stack->turn & 1);
	*stored = hash;
	if (bpf_map_lookup_elem(&stacks, &hash))
		return 1;
	/* Words beyond the depth are of an earlier stack; nobody reads them. */
	error = bpf_map_update_elem(&stacks, &hash, stack, BPF_NOEXIST);
	/* -EEXIST: another CPU was first, with the same stack. */
	if (!error || error == -EEXIST)
		return 1;
	if (error == -E2BIG)
		count->lost_stacks_full++;
	else
		count->lost_map_busy++;
	return 0;
}

/* The same of a stack as the kernel sees it; 0 is the hash of none. */
INLINE bool store_walked(struct bpf_perf_event_data *context, struct stack *stack, u64 flags,
			 struct counters *count, u64 *stored, bool *truncated)
{
	long size = bpf_get_stack(context, stack->at, sizeof(stack->at), flags);

	if (size <= 0)
		return 1;
	stack->depth = size / sizeof(u64);
	if (stack->depth >= wish.deepest)
		*truncated = 1;
	return store(stack, count, stored);
}

/*
 * The register that leads to a leaf's caller, as it is in user mode: that of the clock's interrupt,
 * or with which the task entered the kernel. False where the kernel does not give the latter.
 */
INLINE bool leaf_register(struct bpf_perf_event_data *context, u64 *value)
{
	if (in_user_mode(context)) {
		*value = context->regs.LEAF_REGISTER;
		return 1;
	}
	if (!KERNEL_HAS_ENUM(bpf_func_id, BPF_FUNC_task_pt_regs))
		return 0;
	*value = READ_KERNEL(bpf_task_pt_regs(bpf_get_current_task_btf()), LEAF_REGISTER);
	return 1;
}

/*
 * A leaf of Go that makes no frame hides its caller from the frame pointers: where it computes,
 * calls the kernel, or touches a page that is not there yet. Its return address is in one of the
 * two words at the stack pointer (arm64: in the link register); which, only the agent can tell, so
 * both are kept when they may be code.
 */
INLINE void keep_leaf_words(struct bpf_perf_event_data *context, struct row *row)
{
	struct text *text = bpf_map_lookup_elem(&texts, &row->tgid);
	u64 words[2] = {};

	if (!text || !row->user)
		return;
	if (!leaf_register(context, &words[0]))
		return;
#if defined(__TARGET_ARCH_x86_64)
	if (bpf_probe_read_user(words, sizeof(words), (void *)words[0]))
		return;
#endif
	if (words[0] >= text->begin && words[0] < text->end)
		row->words[0] = words[0];
	if (words[1] >= text->begin && words[1] < text->end)
		row->words[1] = words[1];
}

/*
 * On its own stack, where it runs C and parts of Go's runtime, a thread leaves that of its
 * goroutine behind: keep it, too. False when it could not be stored.
 */
INLINE bool store_goroutine(struct bpf_perf_event_data *context, struct stack *stack,
			    struct counters *count, struct row *row)
{
	const struct go_layout newer = {96, 184}, older = {104, 192};
	struct goroutine waiting = {};
	u64 current, found, thread = 0, own = 0, frame = 0;

	if (!KERNEL_HAS_ENUM(bpf_func_id, BPF_FUNC_task_pt_regs) || !row->user)
		return 1;
	current = current_goroutine(context);
	if (!current ||
	    bpf_probe_read_user(&thread, sizeof(thread), &((struct goroutine *)current)->thread) ||
	    bpf_probe_read_user(&own, sizeof(own), (void *)thread))
		return 1;
	frame = newer.frame_pointer;
	found = owner(thread, &newer, &waiting);
	if (!found) {
		frame = older.frame_pointer;
		found = owner(thread, &older, &waiting);
	}
	if (own != current) {
		row->owner = found == current ? OWNER_GOROUTINE : OWNER_UNKNOWN;
		return 1;
	}
	row->owner = OWNER_THREAD;
	if (!found)
		return 1;
	row->owner = OWNER_UNREADABLE;
	if (waiting.sp < waiting.lowest || waiting.sp >= waiting.highest ||
	    bpf_probe_read_user(&frame, sizeof(frame), (void *)found + frame))
		return 1;
	row->owner = OWNER_BORROWED;
	return !walk(waiting.lowest, waiting.highest, waiting.sp, frame) ||
	       store(stack, count, &row->goroutine);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *context)
{
	const u32 only = 0;
	struct counters *count = bpf_map_lookup_elem(&counters, &only);
	struct stack *stack = bpf_map_lookup_elem(&scratch, &only);
	struct row row = {};
	u32 *turn = bpf_map_lookup_elem(&turns, &only);
	bool truncated = 0;
	u64 one = 1, *times;
	long error;

	if (!count || !stack || !turn)
		return 0;
	stack->turn = *turn;
	count->ticks++;
	row.tgid = bpf_get_current_pid_tgid() >> 32;
	if (!row.tgid || !is_wanted(row.tgid)) {
		count->others++;
		return 0;
	}
	if (!store_walked(context, stack, BPF_F_USER_STACK, count, &row.user, &truncated) ||
	    !store_walked(context, stack, 0, count, &row.kernel, &truncated))
		return 0;
	if (!row.user && !row.kernel) {
		count->lost_no_stack++;
		return 0;
	}
	row.image = image();
	announce(&row);
	keep_leaf_words(context, &row);
	if (!store_goroutine(context, stack, count, &row))
		return 0;

	times = bpf_map_lookup_elem(&rows, &row);
	if (!times) {
		error = bpf_map_update_elem(&rows, &row, &one, BPF_NOEXIST);
		if (!error)
			goto recorded;
		/* Another CPU may have been first: then its row is counted on. */
		times = bpf_map_lookup_elem(&rows, &row);
		if (!times) {
			if (error == -E2BIG)
				count->lost_rows_full++;
			else
				count->lost_map_busy++;
			return 0;
		}
	}
	__sync_fetch_and_add(times, 1);
recorded:
	count->recorded++;
	if (truncated)
		count->truncated++;
	return 0;
}

const char LICENSE[] SEC("license") = "GPL";
