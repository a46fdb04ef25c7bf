// SPDX-License-Identifier: Apache-2.0
/* What this process does to itself: its end with its last words, its signals, and its clock. */
#ifndef NEMUTATOR_PROCESS_H
#define NEMUTATOR_PROCESS_H

#include "lines.h"

#define TERMINATION_LOG "/dev/termination-log"
#define NANOSECONDS	1000000000LL

enum exit_code {
	NOT_STARTED = 125,
	NOT_EXECUTABLE = 126,
	NOT_FOUND = 127,
	SIGNALLED = 128,
};

static _Noreturn void leave(int code)
{
	for (;;)
		CALL1(exit_group, code);
}

static void write_all(long descriptor, const char *bytes, size_t size)
{
	while (size) {
		long written = CALL3(write, descriptor, bytes, size);

		if (written <= 0)
			return;
		bytes += written;
		size -= (size_t)written;
	}
}

static void report(const struct line *line)
{
	struct line whole = {0};

	add(&whole, "nemutator-exec: ");
	for (size_t i = 0; i < line->size && whole.size < sizeof(whole.text) - 1; i++)
		add_character(&whole, line->text[i]);
	add_character(&whole, '\n');
	write_all(2, whole.text, whole.size);
}

/* The last words: in the log, and where kubelet reads why a container ended. */
static _Noreturn void refuse(const struct line *line, enum exit_code code)
{
	report(line);
	/* Not created: only kubelet's own file is meant. */
	long file = CALL4(
		openat, AT_CWD, TERMINATION_LOG,
		FOR_WRITING | APPENDING | WITHOUT_TERMINAL | CLOSED_BY_EXEC | NON_BLOCKING, 0);

	if (file >= 0)
		write_all(file, line->text, line->size);
	leave(code);
}

static void end_by_signal(int number)
{
	leave(SIGNALLED + number);
}

static void never_called(void)
{
	leave(NOT_STARTED);
}

/*
 * The kernel drops signals that the first process of a container does not handle, so a pod that is
 * deleted while this waits would take all of its grace period. execve() makes what is handled here
 * what it was: a signal that was ignored is left so.
 */
static void handle_signals(void)
{
	static const int handled[] = {SIG_INT, SIG_QUIT, SIG_TERM};
	/* x86_64 calls no handler without a restorer; this one does not return. */
	const struct signal_action ours = {
		.handler = end_by_signal, .flags = 0x04000000, .restorer = never_called};

	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++) {
		struct signal_action before = {0};

		if (CALL4(rt_sigaction, handled[i], 0, &before, sizeof(before.mask)) == 0 &&
		    !before.handler)
			CALL4(rt_sigaction, handled[i], &ours, 0, sizeof(ours.mask));
	}
}

static int64_t now(void)
{
	struct span_of_time time = {0};

	CALL2(clock_gettime, CLOCK_STEADY, &time);
	return time.seconds * NANOSECONDS + time.nanoseconds;
}

/* Until *descriptor* can be read, or until *deadline*; without one (-1) until then. */
static bool readable_before(int64_t deadline, int descriptor)
{
	struct polled polled = {.descriptor = descriptor, .wanted = POLL_IN};
	int64_t left = deadline - now();

	if (left <= 0)
		return false;
	struct span_of_time time = {left / NANOSECONDS, left % NANOSECONDS};

	return CALL6(ppoll, &polled, descriptor < 0 ? 0 : 1, &time, 0, 0, 0) > 0;
}

#endif
