/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sampling program and the agent share. Read by nemutator_agent/profiler/bpf_maps.py. */
#ifndef MAPS_H
#define MAPS_H

#include "kernel.h"

/* The kernel's own default (kernel.perf_event_max_stack). */
#define DEEPEST 127
struct stack {
	u32 depth;
	u32 turn;
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

/* No kernel numbers more threads than the other 24 bits tell apart. */
#define OWNER_BITS 8

struct row {
	u32 tgid;
	u32 owner;  /* and above OWNER_BITS the thread, where it is asked for */
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

/* A process while it runs one program. */
struct task {
	u32 tgid;
	u32 unused;
	u64 image;
};

/* The executable, and where its code begins in memory: the same in all that run it, but for one
 * shift. So those that ended too early can be looked up in others.
 */
struct program {
	u64 inode;
	u64 device;
	u64 code;
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

/*
 * Stacks and rows that the agent takes out meanwhile have another turn than those that come: it is
 * the lowest bit of their hashes.
 */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
	MAP_NUMBER(max_entries, 1);
} turns SEC(".maps");

/* What was seen since the agent looked last. What does not fit comes with its next sample. */
struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_TYPE(key, struct task);
	MAP_TYPE(value, struct program);
	MAP_NUMBER(max_entries, 1024);
} programs SEC(".maps");

/* Of processes with Go code: where it lies. */
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

#endif
