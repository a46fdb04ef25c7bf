/* SPDX-License-Identifier: GPL-2.0-only */
/* The goroutine that a thread of Go works for, and the stack that it has left there. */
#ifndef GOROUTINES_H
#define GOROUTINES_H

#include "maps.h"

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

/*
 * The goroutine that the thread's own memory names: what is there may be anything. *clock* has
 * interrupted the thread; where it is 0, the thread has entered the kernel.
 */
INLINE u64 current_goroutine(struct bpf_perf_event_data *clock)
{
#if defined(__TARGET_ARCH_x86_64)
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 found = 0;

	(void)clock;
	bpf_probe_read_user(&found, sizeof(found), (void *)READ_KERNEL(task, thread.fsbase) - 8);
	return found;
#else
	/* It is in a register, which C may use for itself. */
	if (clock && in_user_mode(clock))
		return clock->regs.regs[28];
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

#endif
