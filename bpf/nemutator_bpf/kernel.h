/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What our programs need of the kernel, and no more: a whole vmlinux.h is 3 MB of one kernel's
 * types. Structures of the kernel name only the members that are read; libbpf finds their offsets
 * in the BTF of the kernel that runs (CO-RE). Numbers of helpers and maps are ABI.
 */
#ifndef NEMUTATOR_KERNEL_H
#define NEMUTATOR_KERNEL_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define INLINE	  static inline __attribute__((always_inline))
#define RELOCATED __attribute__((preserve_access_index))

/* A map's definition is read from the types of such members. */
#define MAP_NUMBER(name, value) int(*name)[value]
#define MAP_TYPE(name, of)	typeof(of) *name

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	E2BIG = 7,
	EEXIST = 17,
};

#define BPF_F_USER_STACK (1ULL << 8)

struct task_struct;
struct pt_regs;

static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
					 u64 flags) = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static u64 (*const bpf_get_current_task)(void) = (void *)35;
static long (*const bpf_get_stack)(void *context, void *buffer, u32 size, u64 flags) = (void *)67;
/* Since Linux 5.11, and 5.15: called only where KERNEL_HAS_ENUM finds the second one. */
static struct task_struct *(*const bpf_get_current_task_btf)(void) = (void *)158;
static struct pt_regs *(*const bpf_task_pt_regs)(struct task_struct *task) = (void *)175;
static long (*const bpf_probe_read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*const bpf_probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;

/* Registers as perf_event programs see them: 64-bit words, whatever the kernel's own union says. */
#if defined(__TARGET_ARCH_x86_64)
struct registers {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	u64 ip, cs, flags, sp, ss;
};

/* Where the kernel keeps them of a task that has entered it. */
struct pt_regs {
	u64 sp;
} RELOCATED;

#define LEAF_REGISTER sp

/* A thread's own memory begins there. */
struct thread_struct {
	unsigned long fsbase;
} RELOCATED;
#elif defined(__TARGET_ARCH_aarch64)
struct registers {
	u64 regs[31], sp, pc, pstate;
};

/* Where the kernel keeps them of a task that has entered it. */
struct pt_regs {
	u64 regs[31];
} RELOCATED;

#define LEAF_REGISTER regs[30]
#else
#error "name the architecture: -D__TARGET_ARCH_x86_64 or -D__TARGET_ARCH_aarch64"
#endif

struct bpf_perf_event_data {
	struct registers regs;
	u64 sample_period;
	u64 addr;
};

struct bpf_raw_tracepoint_args {
	u64 args[3];
};

INLINE bool in_user_mode(const struct bpf_perf_event_data *context)
{
#if defined(__TARGET_ARCH_x86_64)
	return (context->regs.cs & 3) == 3;
#else
	return (context->regs.pstate & 15) == 0;
#endif
}

struct kernfs_node {
	u64 id;
} RELOCATED;

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} RELOCATED;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
} RELOCATED;

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
} RELOCATED;

struct super_block {
	u32 s_dev;
} RELOCATED;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
} RELOCATED;

struct file {
	struct inode *f_inode;
} RELOCATED;

struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack;
	struct file *exe_file;
} RELOCATED;

/* What the scheduler counts of each task. */
struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
} RELOCATED;

struct task_struct {
	unsigned int __state;
	int pid;
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct sched_info sched_info;
#if defined(__TARGET_ARCH_x86_64)
	struct thread_struct thread;
#endif
} RELOCATED;

/* Before Linux 5.14 that was its name. What follows ___ is no part of a name of the kernel. */
struct task_struct___5_13 {
	long state;
} RELOCATED;

/* Of a task that has ended: no kernel has another number for it. */
#define TASK_DEAD 0x80

/* Their values differ between kernels: only their names are used. */
enum cgroup_subsys_id {
	cpuacct_cgrp_id,
	memory_cgrp_id,
	pids_cgrp_id,
};

enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,
};

#define KERNEL_HAS_ENUM(type, name) __builtin_preserve_enum_value(*(typeof(enum type) *)name, 0)
#define KERNEL_ENUM(type, name)	    __builtin_preserve_enum_value(*(typeof(enum type) *)name, 1)

#define KERNEL_HAS_MEMBER(from, member) __builtin_preserve_field_info((from)->member, 2)

/* Reads a member of a structure of the kernel; 0 when it cannot be read. */
#define READ_KERNEL(from, member)                                                                  \
	({                                                                                         \
		typeof((from)->member) value_ = 0;                                                 \
		bpf_probe_read_kernel(&value_, sizeof(value_), &(from)->member);                   \
		value_;                                                                            \
	})

#endif
