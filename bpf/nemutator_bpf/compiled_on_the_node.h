/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In the place of kernel.h where bcc compiles on the node: with the headers of the kernel that runs
 * there, because it has no BTF. The agent rewrites the rest of the source for it, see
 * nemutator_agent/profiler/bcc_source.py. Numbers and types of helpers are bcc's own.
 */
#ifndef COMPILED_ON_THE_NODE_H
#define COMPILED_ON_THE_NODE_H

#include <linux/version.h>
#include <linux/sched.h>
#include <linux/mm_types.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/cgroup-defs.h>

/* A macro there, a variable here. */
#undef current
/* The maps are called with constants. */
#pragma clang diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"

#define INLINE static inline __attribute__((always_inline))

/* Registers as perf_event programs see them: 64-bit words, whatever the kernel's own union says. */
#define bpf_perf_event_data interrupted
#if defined(__x86_64__)
#define __TARGET_ARCH_x86_64
struct registers {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	u64 ip, cs, flags, sp, ss;
};
#define LEAF_REGISTER sp
#elif defined(__aarch64__)
#define __TARGET_ARCH_aarch64
struct registers {
	u64 regs[31], sp, pc, pstate;
};
#define LEAF_REGISTER regs[30]
#else
#error "there is no sampling program for this architecture"
#endif

struct bpf_perf_event_data {
	struct registers regs;
	u64 sample_period;
	u64 addr;
};

INLINE bool in_user_mode(const struct bpf_perf_event_data *context)
{
#if defined(__TARGET_ARCH_x86_64)
	return (context->regs.cs & 3) == 3;
#else
	return (context->regs.pstate & 15) == 0;
#endif
}

/* What a kernel has is known when it is compiled for. */
#define KERNEL_HAS_ENUM(type, name)	KERNEL_HAS_##name
#define KERNEL_ENUM(type, name)		(name)
#define KERNEL_HAS_MEMBER(from, member) 1

#if IS_ENABLED(CONFIG_CGROUP_CPUACCT)
#define KERNEL_HAS_cpuacct_cgrp_id 1
#else
#define KERNEL_HAS_cpuacct_cgrp_id 0
#define cpuacct_cgrp_id		   0
#endif
#if IS_ENABLED(CONFIG_MEMCG)
#define KERNEL_HAS_memory_cgrp_id 1
#else
#define KERNEL_HAS_memory_cgrp_id 0
#define memory_cgrp_id		  0
#endif
#if IS_ENABLED(CONFIG_CGROUP_PIDS)
#define KERNEL_HAS_pids_cgrp_id 1
#else
#define KERNEL_HAS_pids_cgrp_id 0
#define pids_cgrp_id		0
#endif

/* The registers of a task in the kernel are given by BTF alone: what needs them is left out. */
#define KERNEL_HAS_BPF_FUNC_task_pt_regs 0
#define bpf_get_current_task_btf()	 ((struct task_struct *)0)
#define bpf_task_pt_regs(task)		 ((struct pt_regs *)0)

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
#define __state state
#endif
struct task_struct___5_13 {
	long state;
};
/* Where the kernel's own headers do not say it to us. */
#ifndef TASK_DEAD
#define TASK_DEAD 0x80
#endif

/* Reads a member of a structure of the kernel; 0 when it cannot be read. */
#define READ_KERNEL(from, member)                                                                  \
	({                                                                                         \
		typeof((from)->member) value_ = 0;                                                 \
		bpf_probe_read_kernel(&value_, sizeof(value_), &(from)->member);                   \
		value_;                                                                            \
	})

#endif
