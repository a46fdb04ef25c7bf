// SPDX-License-Identifier: Apache-2.0
/*
 * Linux without a C library: the system calls that nemutator-exec needs, by number, as headers of
 * the kernel's have them (asm/unistd_64.h, asm-generic/unistd.h).
 */
#ifndef NEMUTATOR_LINUX_H
#define NEMUTATOR_LINUX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
enum call {
	CALL_write = 1,
	CALL_close = 3,
	CALL_mmap = 9,
	CALL_rt_sigaction = 13,
	CALL_socket = 41,
	CALL_connect = 42,
	CALL_sendto = 44,
	CALL_recvfrom = 45,
	CALL_execve = 59,
	CALL_prctl = 157,
	CALL_clock_gettime = 228,
	CALL_exit_group = 231,
	CALL_openat = 257,
	CALL_ppoll = 271,
	CALL_getrandom = 318,
};
#elif defined(__aarch64__)
enum call {
	CALL_openat = 56,
	CALL_close = 57,
	CALL_write = 64,
	CALL_ppoll = 73,
	CALL_exit_group = 94,
	CALL_clock_gettime = 113,
	CALL_rt_sigaction = 134,
	CALL_prctl = 167,
	CALL_socket = 198,
	CALL_connect = 203,
	CALL_sendto = 206,
	CALL_recvfrom = 207,
	CALL_execve = 221,
	CALL_mmap = 222,
	CALL_getrandom = 278,
};
#else
#error "nemutator-exec is made for x86_64 and aarch64"
#endif

enum {
	E_NOENT = 2,
	E_2BIG = 7,
	E_NOEXEC = 8,
	E_AGAIN = 11,
	E_NOMEM = 12,
	E_ACCES = 13,
	E_NOTDIR = 20,
	E_TXTBSY = 26,
	E_NAMETOOLONG = 36,
	E_LOOP = 40,
	E_CONNRESET = 104,
	E_TIMEDOUT = 110,
	E_CONNREFUSED = 111,
};

enum {
	AT_CWD = -100,
	FOR_WRITING = 1,
	APPENDING = 02000,
	WITHOUT_TERMINAL = 0400,
	CLOSED_BY_EXEC = 02000000,

	FAMILY_UNIX = 1,
	KIND_STREAM = 1,
	NON_BLOCKING = 04000,
	NO_SIGNAL = 0x4000,

	POLL_IN = 1,

	CLOCK_STEADY = 1,

	READ_AND_WRITE = 1 | 2,
	PRIVATE_ANONYMOUS = 2 | 0x20,

	DUMPABLE = 4, /* PR_SET_DUMPABLE */

	SIG_INT = 2,
	SIG_QUIT = 3,
	SIG_TERM = 15,
};

struct span_of_time {
	int64_t seconds;
	int64_t nanoseconds;
};

struct polled {
	int descriptor;
	int16_t wanted;
	int16_t found;
};

struct unix_address {
	uint16_t family;
	char path[108];
};

/* As the kernel has it, which is not as C libraries do. */
struct signal_action {
	void (*handler)(int);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* The result, or the negative number of the error. */
static inline long call(enum call number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"((long)number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#endif
}

#define CALL1(name, a)		call(CALL_##name, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(name, a, b)	call(CALL_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(name, a, b, c)	call(CALL_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(name, a, b, c, d) call(CALL_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL6(name, a, b, c, d, e, f)                                                              \
	call(CALL_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* What the kernel starts: it finds the arguments on the stack, and calls begin() with them. */
#if defined(__x86_64__)
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	movq %rsp, %rdi\n"
	"	andq $-16, %rsp\n"
	"	call begin\n");
#else
__asm__(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	bl begin\n");
#endif

/* Compilers write calls of these two themselves. */
__attribute__((used, no_builtin("memset"))) void *memset(void *to, int byte, size_t size)
{
	volatile unsigned char *at = to;

	for (size_t i = 0; i < size; i++)
		at[i] = (unsigned char)byte;
	return to;
}

__attribute__((used, no_builtin("memcpy"))) void *memcpy(void *restrict to,
							 const void *restrict from, size_t size)
{
	unsigned char *at = to;
	const unsigned char *source = from;

	for (size_t i = 0; i < size; i++)
		at[i] = source[i];
	return to;
}

#endif
