/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of a task, as far as the kernel and Go's own memory lead: kept under a hash of our
 * own. A STACK_TRACE map loses every stack whose slot is taken (4 % in a trial) and cannot be read
 * in batches.
 */
#ifndef STACKS_H
#define STACKS_H

#include "goroutines.h"
#include "selection.h"

/* Why a place of a task is not known; each has a counter. */
enum loss {
	LOST_NOTHING,
	LOST_NO_STACK,
	LOST_STACKS_FULL,
	LOST_ROWS_FULL,
	LOST_MAP_BUSY,
};

INLINE void count_loss(struct counters *count, enum loss loss, u64 amount)
{
	if (loss == LOST_NO_STACK)
		count->lost_no_stack += amount;
	else if (loss == LOST_STACKS_FULL)
		count->lost_stacks_full += amount;
	else if (loss == LOST_ROWS_FULL)
		count->lost_rows_full += amount;
	else
		count->lost_map_busy += amount;
}

/* Store the stack and say under which hash. */
INLINE enum loss store(struct stack *stack, u64 *stored)
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
		return LOST_NOTHING;
	/* Words beyond the depth are of an earlier stack; nobody reads them. */
	error = bpf_map_update_elem(&stacks, &hash, stack, BPF_NOEXIST);
	/* -EEXIST: another CPU was first, with the same stack. */
	if (!error || error == -EEXIST)
		return LOST_NOTHING;
	return error == -E2BIG ? LOST_STACKS_FULL : LOST_MAP_BUSY;
}

/* The same of a stack as the kernel sees it; 0 is the hash of none. */
INLINE enum loss store_walked(void *context, struct stack *stack, u64 flags, u64 *stored,
			      bool *truncated)
{
	long size = bpf_get_stack(context, stack->at, sizeof(stack->at), flags);

	if (size <= 0)
		return LOST_NOTHING;
	stack->depth = size / sizeof(u64);
	if (stack->depth >= wish.deepest)
		*truncated = 1;
	return store(stack, stored);
}

/*
 * The register that leads to a leaf's caller, as it is in user mode: that of the clock's interrupt
 * (0 where none came), or with which the task entered the kernel. False where the kernel does not
 * give the latter.
 */
INLINE bool leaf_register(struct bpf_perf_event_data *clock, u64 *value)
{
	if (clock && in_user_mode(clock)) {
		*value = clock->regs.LEAF_REGISTER;
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
INLINE void keep_leaf_words(struct bpf_perf_event_data *clock, struct row *row)
{
	struct text *text = bpf_map_lookup_elem(&texts, &row->tgid);
	u64 words[2] = {};

	if (!text || !row->user)
		return;
	if (!leaf_register(clock, &words[0]))
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
 * goroutine behind: keep it, too.
 */
INLINE enum loss store_goroutine(struct bpf_perf_event_data *clock, struct stack *stack,
				 struct row *row)
{
	const struct go_layout newer = {96, 184}, older = {104, 192};
	struct goroutine waiting = {};
	u64 current, found, thread = 0, own = 0, frame = 0;

	if (!KERNEL_HAS_ENUM(bpf_func_id, BPF_FUNC_task_pt_regs) || !row->user)
		return LOST_NOTHING;
	current = current_goroutine(clock);
	if (!current ||
	    bpf_probe_read_user(&thread, sizeof(thread), &((struct goroutine *)current)->thread) ||
	    bpf_probe_read_user(&own, sizeof(own), (void *)thread))
		return LOST_NOTHING;
	frame = newer.frame_pointer;
	found = owner(thread, &newer, &waiting);
	if (!found) {
		frame = older.frame_pointer;
		found = owner(thread, &older, &waiting);
	}
	if (own != current) {
		row->owner = found == current ? OWNER_GOROUTINE : OWNER_UNKNOWN;
		return LOST_NOTHING;
	}
	row->owner = OWNER_THREAD;
	if (!found)
		return LOST_NOTHING;
	row->owner = OWNER_UNREADABLE;
	if (waiting.sp < waiting.lowest || waiting.sp >= waiting.highest ||
	    bpf_probe_read_user(&frame, sizeof(frame), (void *)found + frame))
		return LOST_NOTHING;
	row->owner = OWNER_BORROWED;
	if (!walk(waiting.lowest, waiting.highest, waiting.sp, frame))
		return LOST_NOTHING;
	return store(stack, &row->goroutine);
}

/*
 * Where the current task is: the stacks of its row, and what is known of its program. *clock* is
 * that which has interrupted it, or 0.
 */
INLINE enum loss store_place(void *context, struct bpf_perf_event_data *clock, struct stack *stack,
			     struct row *row, bool *truncated)
{
	enum loss loss = store_walked(context, stack, BPF_F_USER_STACK, &row->user, truncated);

	if (loss == LOST_NOTHING)
		loss = store_walked(context, stack, 0, &row->kernel, truncated);
	if (loss != LOST_NOTHING)
		return loss;
	if (!row->user && !row->kernel)
		return LOST_NO_STACK;
	row->image = image();
	announce(row);
	keep_leaf_words(clock, row);
	loss = store_goroutine(clock, stack, row);
	if (wish.threads)
		row->owner |= (u32)bpf_get_current_pid_tgid() << OWNER_BITS;
	return loss;
}

/* Add to what was counted of the row. */
INLINE enum loss add(const struct row *row, u64 amount)
{
	u64 *sum = bpf_map_lookup_elem(&rows, row);
	long error;

	if (!sum) {
		error = bpf_map_update_elem(&rows, row, &amount, BPF_NOEXIST);
		if (!error)
			return LOST_NOTHING;
		/* Another CPU may have been first: then its row is counted on. */
		sum = bpf_map_lookup_elem(&rows, row);
		if (!sum)
			return error == -E2BIG ? LOST_ROWS_FULL : LOST_MAP_BUSY;
	}
	__sync_fetch_and_add(sum, amount);
	return LOST_NOTHING;
}

#endif
