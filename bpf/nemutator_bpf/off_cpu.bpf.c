// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the threads of a target are blocked in the kernel, and for how long: called at each switch
 * of a CPU from one task to another. What is counted is nanoseconds.
 *
 * Nothing is lost uncounted: what a task that was taken off its CPU has waited is recorded, or lost
 * for a reason; of those that are off it when the agent ends, the agent reads since when.
 */
#include "stacks.h"
#include "tasks.h"

/* A task that is off the CPU, from where, and since when. */
struct wait {
	u64 since;
	u32 loss;
	u32 truncated;
	struct row row;
};

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct wait);
	MAP_NUMBER(max_entries, 8192);
} waits SEC(".maps");

/* Waits of tasks that did not fit there: how long they were is not known. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
	MAP_NUMBER(max_entries, 1);
} untimed SEC(".maps");

/* Whether the task waits for anything but a CPU, and will come back. */
INLINE bool is_blocked(struct task_struct *task)
{
	u64 state = task_state(task);

	return state && !(state & TASK_DEAD);
}

INLINE void end_wait(struct task_struct *task)
{
	const u32 only = 0;
	struct counters *count = bpf_map_lookup_elem(&counters, &only);
	u32 thread = READ_KERNEL(task, pid);
	struct wait *wait = thread ? bpf_map_lookup_elem(&waits, &thread) : 0;
	enum loss loss;
	u64 amount;

	if (!count || !wait)
		return;
	amount = bpf_ktime_get_ns() - wait->since;
	loss = wait->loss;
	if (loss == LOST_NOTHING)
		loss = add(&wait->row, amount);
	count->ticks += amount;
	if (loss == LOST_NOTHING)
		count->recorded += amount;
	else
		count_loss(count, loss, amount);
	if (loss == LOST_NOTHING && wait->truncated)
		count->truncated += amount;
	bpf_map_delete_elem(&waits, &thread);
}

/* Of the current task, which is about to leave its CPU. */
INLINE void begin_wait(struct bpf_raw_tracepoint_args *context)
{
	const u32 only = 0;
	struct stack *stack = bpf_map_lookup_elem(&scratch, &only);
	u64 id = bpf_get_current_pid_tgid(), *more;
	struct wait wait = {.row = {.tgid = id >> 32}};
	u32 thread = id;
	bool truncated = 0;

	if (!stack || !wait.row.tgid || !is_wanted(wait.row.tgid))
		return;
	stack->turn = 0;
	wait.loss = store_place(context, 0, stack, &wait.row, &truncated);
	wait.truncated = truncated;
	wait.since = bpf_ktime_get_ns();
	if (!bpf_map_update_elem(&waits, &thread, &wait, BPF_ANY))
		return;
	more = bpf_map_lookup_elem(&untimed, &only);
	if (more)
		*more += 1;
}

/* Its arguments: whether the task was only interrupted, the task, and the one that comes next. */
SEC("raw_tracepoint")
int off_cpu(struct bpf_raw_tracepoint_args *context)
{
	bool is_interrupted = context->args[0];

	end_wait((void *)context->args[2]);
	if (!is_interrupted && is_blocked((void *)context->args[1]))
		begin_wait(context);
	return 0;
}

const char LICENSE[] SEC("license") = "GPL";
