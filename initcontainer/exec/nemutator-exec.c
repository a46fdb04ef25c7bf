// SPDX-License-Identifier: Apache-2.0
/*
 * nemutator-exec [--socket PATH] [--wait SECONDS] -- COMMAND [ARGUMENT] …
 *
 * Becomes COMMAND, with the variables that the pod declares in its environment: asked of the agent
 * on the pod's own socket, so that the kernel says whose process this is. A value is in the memory
 * of this process and in the environment of the command, and nowhere else. Without one of its
 * variables the command is not started: exit code 125, and the reason is the last line of the log
 * and the container's termination message.
 *
 * Without a C library, because images may have none, and because then all that runs here can be
 * read here: nothing is allocated, nothing is copied into buffers of others, and the compiler that
 * makes the BPF objects makes it for each architecture.
 */
#include "command.h"

#define SOCKET "/run/nemutator/agent.sock"
#define WAIT   120

struct wish {
	const char *socket;
	int64_t wait; /* in seconds */
	char **command;
};

static _Noreturn void misused(const char *what)
{
	struct line why = {0};

	add(&why, what);
	add(&why,
	    "; remedy: nemutator-exec [--socket PATH] [--wait SECONDS] -- COMMAND [ARGUMENT] …");
	refuse(&why, NOT_STARTED);
}

/* Like `120` or `120s`, of at most four digits. */
static int64_t seconds_in(const char *text)
{
	int64_t seconds = 0;
	size_t at = 0;

	for (; at < 4 && is_digit((unsigned char)text[at]); at++)
		seconds = seconds * 10 + (text[at] - '0');
	if (!seconds || !(equal(text + at, "") || equal(text + at, "s")))
		misused("--wait: expected seconds, like 120s");
	return seconds;
}

static struct wish wish_in(char **arguments)
{
	struct wish wish = {.socket = SOCKET, .wait = WAIT};

	/* A program may be started without even its own name. */
	for (char **at = *arguments ? arguments + 1 : arguments; *at; at += 2) {
		if (equal(*at, "--")) {
			wish.command = at + 1;
			break;
		}
		bool is_socket = equal(*at, "--socket");

		if (!is_socket && !equal(*at, "--wait"))
			misused("an unknown option");
		if (!at[1])
			misused("an option without its value");
		if (is_socket)
			wish.socket = at[1];
		else
			wish.wait = seconds_in(at[1]);
	}
	if (!wish.command || !*wish.command)
		misused("no command is given");
	return wish;
}

__attribute__((used)) _Noreturn void begin(long *stack)
{
	char **arguments = (char **)(stack + 1), **environment = arguments + *stack + 1;

	/* No core, and nobody of this user traces, until execve() makes it an ordinary process
	 * again. */
	CALL6(prctl, DUMPABLE, 0, 0, 0, 0, 0);
	struct wish wish = wish_in(arguments);

	handle_signals();
	int count = wait_for_variables(wish.socket, wish.wait);

	become(wish.command, environment_of(environment, count));
}
