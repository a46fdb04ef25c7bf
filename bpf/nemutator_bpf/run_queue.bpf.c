// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the threads of control groups wait for a CPU, turn by turn: called at each switch of a
 * CPU from one task to another, and for as long as the agent runs.
 *
 * The kernel counts for each thread how long it has waited in all (what /proc/PID/schedstat shows).
 * A thread that is taken off its CPU has waited once since it was taken off before, so the
 * difference is what it waited for this turn, also where it was moved from queue to queue
 * meanwhile. No wake-up has to be followed.
 */
#include "control_groups.h"
#include "tasks.h"

/* Two slots for each doubling: 47 of them reach from a microsecond to eight seconds. */
#define SLOTS 47

struct delays {
	u64 sum; /* nanoseconds */
	u64 slots[SLOTS];
};

/* In which hierarchies groups are looked up, before the program is loaded. */
const volatile struct wish {
	u32 unified;
	u32 controller; /* of version 1, or NO_CONTROLLER */
} wish = {.unified = 1};

/* Inode numbers of the hierarchies of version 1 have this bit: each hierarchy has its own numbers.
 */
#define OF_VERSION_1 (1ULL << 63)

/* The groups that the agent asks about. It puts them in and takes them out. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct delays);
	MAP_NUMBER(max_entries, 1024);
} groups SEC(".maps");

/* What each of their threads had waited in all when it was taken off its CPU. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
	MAP_NUMBER(max_entries, 16384);
} threads SEC(".maps");

/* Turns of threads that did not fit there. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
	MAP_NUMBER(max_entries, 1);
} untold SEC(".maps");

INLINE struct delays *above(struct cgroup_subsys_state *state, u64 mark)
{
	for (int level = 0; level < MOST_LEVELS && state; level++) {
		u64 id = group_id(state) | mark;
		struct delays *found = bpf_map_lookup_elem(&groups, &id);

		if (found)
			return found;
		state = READ_KERNEL(state, parent);
	}
	return 0;
}

/* Of the group that holds the task, however deep; in version 1 where it is in none of version 2. */
INLINE struct delays *delays_of(struct task_struct *task)
{
	struct delays *found = 0;

	if (wish.unified)
		found = above(group_state(task, NO_CONTROLLER), 0);
	if (!found && wish.controller != NO_CONTROLLER)
		found = above(group_state(task, wish.controller), OF_VERSION_1);
	return found;
}

INLINE u32 slot_of(u64 ns)
{
	u64 us = ns >> 10, rest = us;
	u32 octave = 0;

	if (!us)
		return 0;
#define HALVE(bits)                                                                                \
	if (rest >> (bits)) {                                                                      \
		octave += (bits);                                                                  \
		rest >>= (bits);                                                                   \
	}
	HALVE(32)
	HALVE(16)
	HALVE(8)
	HALVE(4)
	HALVE(2)
	HALVE(1)
	return 1 + 2 * octave + (octave ? us >> (octave - 1) & 1 : 0);
}

INLINE void add(struct delays *delays, u64 waited)
{
	u32 slot = slot_of(waited);

	if (slot >= SLOTS)
		slot = SLOTS - 1;
	__sync_fetch_and_add(&delays->slots[slot], 1);
	__sync_fetch_and_add(&delays->sum, waited);
}

INLINE void count_untold(void)
{
	const u32 only = 0;
	u64 *turns = bpf_map_lookup_elem(&untold, &only);

	if (turns)
		*turns += 1;
}

/* Its arguments: whether the task was only interrupted, the task, and the one that comes next. */
SEC("raw_tracepoint")
int run_queue(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (void *)context->args[1];
	u32 thread = READ_KERNEL(task, pid);
	struct delays *delays;
	u64 waited, *before;

	/* What runs when nobody wants to waits for nothing. */
	if (!thread)
		return 0;
	delays = delays_of(task);
	if (delays) {
		waited = READ_KERNEL(task, sched_info.run_delay);
		before = bpf_map_lookup_elem(&threads, &thread);
		if (before && waited >= *before) {
			add(delays, waited - *before);
			*before = waited;
		} else {
			/* Of one that has had turns before anybody looked, this one is not known.
			 */
			if (READ_KERNEL(task, sched_info.pcount) == 1)
				add(delays, waited);
			if (bpf_map_update_elem(&threads, &thread, &waited, BPF_ANY))
				count_untold();
		}
	}
	/* Its number may become another one's. */
	if (task_state(task) & TASK_DEAD)
		bpf_map_delete_elem(&threads, &thread);
	return 0;
}

const char LICENSE[] SEC("license") = "GPL";
