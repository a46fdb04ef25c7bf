// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a target spends its CPU time: called by a clock on each CPU, counts equal stacks.
 *
 * Stacks are kept in a hash map under a hash of our own. A STACK_TRACE map loses every stack whose
 * slot is taken (4 % in a trial) and cannot be read in batches. What the agent says is in
 * constants, so that what is not asked for is no code.
 *
 * Nothing is lost uncounted: each tick is of somebody else, or recorded, or lost for a reason.
 * Layouts are read by nemutator_agent/profiler/bpf_maps.py.
 */
#include "kernel.h"

/* The kernel's own default (kernel.perf_event_max_stack). */
#define DEEPEST 127
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

struct stack {
	u32 depth;
	u32 unused;
	u64 at[DEEPEST];
};

/* Whose stack the thread was on, where it runs Go. */
enum stack_owner {
	OWNER_UNKNOWN, /* not Go, or a Go whose goroutines cannot be found */
	OWNER_GOROUTINE,
	OWNER_THREAD,	/* it works for no goroutine */
	OWNER_BORROWED, /* the thread's own, and a goroutine waits for it */
	OWNER_UNREADABLE,
};

struct row {
	u32 tgid;
	u32 owner;
	u64 user;   /* the hash of a stack, or 0 for none */
	u64 kernel; /* the same */
	u64 words[2];
	u64 image;     /* which program: a number that exec changes, 0 of a task without memory */
	u64 goroutine; /* the hash of the stack of the one that waits, or 0 */
};

struct text {
	u64 begin;
	u64 end;
};

struct counters {
	u64 ticks;
	u64 others;
	u64 recorded;
	u64 truncated; /* recorded, without their roots */
	u64 lost_no_stack;
	u64 lost_stacks_full;
	u64 lost_rows_full;
	u64 lost_map_busy;
};

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct stack);
	MAP_NUMBER(max_entries, 8192);
} stacks SEC(".maps");

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, struct row);
	MAP_TYPE(value, u64);
	MAP_NUMBER(max_entries, 16384);
} rows SEC(".maps");

/* Of processes with Go code: where it lies. Filled before the first tick. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct text);
	MAP_NUMBER(max_entries, 1024);
} texts SEC(".maps");

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct counters);
	MAP_NUMBER(max_entries, 1);
} counters SEC(".maps");

/* A stack is larger than what a program has on its own. The clock does not interrupt itself. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct stack);
	MAP_NUMBER(max_entries, 1);
} scratch SEC(".maps");

INLINE bool in_user_mode(const struct bpf_perf_event_data *context)
{
#if defined(__TARGET_ARCH_x86_64)
	return (context->regs.cs & 3) == 3;
#else
	return (context->regs.pstate & 15) == 0;
#endif
}

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
	hash = (hash ^ stack->depth) | 1;
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
 * What the beginning of a goroutine holds in every version since Go 1.18 (runtime/runtime2.go), the
 * scheduler's stack of a thread included.
 */
struct goroutine {
	u64 lowest, highest; /* of its stack */
	u64 guards[2];
	u64 panic, defer;
	u64 thread;
	u64 sp, pc;
	u64 self;
};

/* Two places that differ: Go 1.25 took a word out of what is kept of a goroutine that waits. */
struct go_layout {
	u32 frame_pointer; /* in the goroutine */
	u32 goroutine;	   /* in the thread: which one it works for */
};

/* The goroutine that the thread's own memory names: what is there may be anything. */
INLINE u64 current_goroutine(struct bpf_perf_event_data *context)
{
#if defined(__TARGET_ARCH_x86_64)
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 found = 0;

	(void)context;
	bpf_probe_read_user(&found, sizeof(found), (void *)READ_KERNEL(task, thread.fsbase) - 8);
	return found;
#else
	/* It is in a register, which C may use for itself. */
	if (in_user_mode(context))
		return context->regs.regs[28];
	return READ_KERNEL(bpf_task_pt_regs(bpf_get_current_task_btf()), regs[28]);
#endif
}

/*
 * The goroutine that the thread works for. All that is read is a stranger's memory, and which Go
 * made it is not known: only what refers back to itself is believed.
 */
INLINE u64 owner(u64 thread, const struct go_layout *layout, struct goroutine *goroutine)
{
	u64 found = 0;

	if (bpf_probe_read_user(&found, sizeof(found), (void *)thread + layout->goroutine) ||
	    !found || bpf_probe_read_user(goroutine, sizeof(*goroutine), (void *)found) ||
	    goroutine->self != found || goroutine->thread != thread)
		return 0;
	return found;
}

/*
 * Follow the frame pointers of a goroutine that waits, within its stack, into the scratch; how deep
 * it is. The verifier goes through a function of its own once, and through an inlined one from each
 * of the states that may come before it.
 */
__attribute__((noinline)) int walk(u64 lowest, u64 highest, u64 sp, u64 frame)
{
	const u32 only = 0;
	struct stack *stack = bpf_map_lookup_elem(&scratch, &only);
	struct {
		u64 next, caller;
	} pair;
	u32 depth = 0;

	/* Older kernels were not tried with such a loop. */
	if (!KERNEL_HAS_ENUM(bpf_func_id, BPF_FUNC_task_pt_regs) || !stack)
		return 0;
	/* Until Go 1.20 the function that left the stack has no frame there, but a return address.
	 */
	if (frame != sp && frame + 8 != sp &&
	    !bpf_probe_read_user(&stack->at[0], sizeof(u64), (void *)sp))
		depth = 1;
	for (u32 i = 0; i < DEEPEST - 1; i++) {
		if (frame < lowest || frame >= highest ||
		    bpf_probe_read_user(&pair, sizeof(pair), (void *)frame) || !pair.caller ||
		    depth >= DEEPEST)
			break;
		stack->at[depth++] = pair.caller;
		if (pair.next <= frame)
			break;
		frame = pair.next;
	}
	stack->depth = depth;
	return depth;
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
	bool truncated = 0;
	u64 one = 1, *times;
	long error;

	if (!count || !stack)
		return 0;
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
