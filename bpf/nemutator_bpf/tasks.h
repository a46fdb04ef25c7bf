/* SPDX-License-Identifier: GPL-2.0-only */
/* What tasks of any kernel say of themselves. */
#ifndef TASKS_H
#define TASKS_H

#include "kernel.h"

/* 0 while it runs or could run. */
INLINE u64 task_state(struct task_struct *task)
{
	struct task_struct___5_13 *older = (void *)task;

	if (KERNEL_HAS_MEMBER(task, __state))
		return READ_KERNEL(task, __state);
	return READ_KERNEL(older, state);
}

#endif
