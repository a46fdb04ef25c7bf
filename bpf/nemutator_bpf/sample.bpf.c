// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a target spends its CPU time: called by a clock on each CPU, counts equal stacks. What the
 * agent says is in constants, so that what is not asked for is no code.
 *
 * Nothing is lost uncounted: each tick is of somebody else, or recorded, or lost for a reason.
 * The agent takes stacks and rows out while more come: those have another turn.
 */
#include "stacks.h"

SEC("perf_event")
int sample(struct bpf_perf_event_data *context)
{
	const u32 only = 0;
	struct counters *count = bpf_map_lookup_elem(&counters, &only);
	struct stack *stack = bpf_map_lookup_elem(&scratch, &only);
	struct row row = {};
	u32 *turn = bpf_map_lookup_elem(&turns, &only);
	bool truncated = 0;
	enum loss loss;

	if (!count || !stack || !turn)
		return 0;
	stack->turn = *turn;
	count->ticks++;
	row.tgid = bpf_get_current_pid_tgid() >> 32;
	if (!row.tgid || !is_wanted(row.tgid)) {
		count->others++;
		return 0;
	}
	loss = store_place(context, context, stack, &row, &truncated);
	if (loss == LOST_NOTHING)
		loss = add(&row, 1);
	if (loss != LOST_NOTHING) {
		count_loss(count, loss, 1);
		return 0;
	}
	count->recorded++;
	if (truncated)
		count->truncated++;
	return 0;
}

const char LICENSE[] SEC("license") = "GPL";
