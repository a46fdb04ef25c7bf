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
#include "answer.h"
#include "linux.h"

#define SOCKET		"/run/nemutator/agent.sock"
#define TERMINATION_LOG "/dev/termination-log"
#define USUAL_PATH	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#define REQUEST "GET /v1/env?format=nul HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n"

#define NANOSECONDS 1000000000LL
#define WAIT	    120
/* The agent's own deadlines are shorter, so this one is for an agent that hangs. */
#define LONGEST_CALL  (30 * NANOSECONDS)
#define FIRST_PAUSE   (NANOSECONDS / 4)
#define LONGEST_PAUSE (5 * NANOSECONDS)
#define LONGEST_PATH  4096
/* Of each part of a refusal, so that the remedy has room as well. */
#define LONGEST_PART 500

enum exit_code {
	NOT_STARTED = 125,
	NOT_EXECUTABLE = 126,
	NOT_FOUND = 127,
	SIGNALLED = 128,
};

enum outcome {
	OUTCOME_VARIABLES,
	OUTCOME_LATER, /* the same question may be answered later */
	OUTCOME_NEVER, /* a person has to change something */
};

struct line {
	size_t size;
	char text[2048];
};

struct wish {
	const char *socket;
	int64_t wait;
	char **command;
};

/* Of the answer, and pointers into it. */
static unsigned char received[LARGEST_HEAD + LARGEST_BODY + 1];
static struct span variables[MOST_VARIABLES];

static const char STRANGE[] = "the agent's answer is not understood; remedy: let the init "
			      "container's image and the agent's be of one version";

/* --- words ------------------------------------------------------------------------------------ */
static size_t length_of(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	return size;
}

static void add_character(struct line *line, char one)
{
	if (line->size < sizeof(line->text))
		line->text[line->size++] = one;
}

static void add(struct line *line, const char *text)
{
	while (*text)
		add_character(line, *text++);
}

static void add_number(struct line *line, unsigned int number)
{
	if (number >= 10)
		add_number(line, number / 10);
	add_character(line, (char)('0' + number % 10));
}

/* *text* of a command line, or of the agent where *json*: on one line, and not too long. */
static void add_foreign(struct line *line, struct span text, bool json)
{
	size_t at = 0;

	for (int shown = 0; at < text.size && shown < LONGEST_PART; shown++) {
		struct span one = json ? text : part(text, 0, at + 1);

		add_character(line, shown_character(one, &at));
	}
}

static struct span text_of(const char *text)
{
	return (struct span){(const unsigned char *)text, length_of(text)};
}

static void add_error(struct line *line, long error)
{
	static const struct {
		long number;
		const char *meaning;
	} known[] = {
		{E_NOENT, "No such file or directory"},
		{E_2BIG, "Argument list too long"},
		{E_NOEXEC, "Exec format error"},
		{E_AGAIN, "Resource temporarily unavailable"},
		{E_NOMEM, "Cannot allocate memory"},
		{E_ACCES, "Permission denied"},
		{E_NOTDIR, "Not a directory"},
		{E_TXTBSY, "Text file busy"},
		{E_NAMETOOLONG, "File name too long"},
		{E_LOOP, "Too many levels of symbolic links"},
		{E_CONNRESET, "Connection reset by peer"},
		{E_TIMEDOUT, "timed out"},
		{E_CONNREFUSED, "Connection refused"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].number == -error) {
			add(line, known[i].meaning);
			return;
		}
	add(line, "error ");
	add_number(line, (unsigned int)-error);
}

static bool equal(const char *one, const char *other)
{
	while (*one && *one == *other)
		one++, other++;
	return *one == *other;
}

/* --- the process ------------------------------------------------------------------------------ */
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
	memset(received, 0, sizeof(received));
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

/* --- the agent -------------------------------------------------------------------------------- */
static long connect_to(const char *path)
{
	struct unix_address address = {.family = FAMILY_UNIX};
	size_t size = length_of(path);

	if (size >= sizeof(address.path))
		return -E_NAMETOOLONG;
	memcpy(address.path, path, size);
	long agent = CALL3(socket, FAMILY_UNIX, KIND_STREAM | NON_BLOCKING | CLOSED_BY_EXEC, 0);

	if (agent < 0)
		return agent;
	long failed = CALL3(connect, agent, &address, sizeof(address));

	if (!failed)
		return agent;
	CALL1(close, agent);
	return failed;
}

/* Reads until the answer is whole or strange. A peer that closes before that is an error. */
static long receive(int agent, int64_t deadline, struct answer *answer, enum reading *reading)
{
	size_t size = 0;

	do {
		if (!readable_before(deadline, agent))
			return -E_TIMEDOUT;
		long more =
			CALL6(recvfrom, agent, received + size, sizeof(received) - size, 0, 0, 0);

		if (more == -E_AGAIN)
			continue;
		if (more <= 0)
			return more ? more : -E_CONNRESET;
		size += (size_t)more;
		*reading = read_answer((struct span){received, size}, answer);
	} while (*reading == READING_UNFINISHED);
	return 0;
}

static long ask(const char *path, int64_t deadline, struct answer *answer, enum reading *reading)
{
	long agent = connect_to(path);

	if (agent < 0)
		return agent;
	/* An empty socket has room for a request of this size. */
	long failed = CALL6(sendto, agent, REQUEST, sizeof(REQUEST) - 1, NO_SIGNAL, 0, 0);

	/* Who refuses a connection answers without reading, and closes: the answer is there all the
	 * same. */
	*reading = READING_UNFINISHED;
	failed = receive((int)agent, deadline, answer, reading);
	CALL1(close, agent);
	return failed;
}

static void explain(const struct answer *answer, struct line *why)
{
	struct span error, remedy, step;

	add(why, "the environment: ");
	if (!json_text(answer->body, "error", &error) ||
	    !json_text(answer->body, "remedy", &remedy) ||
	    !json_text(answer->body, "step", &step)) {
		add(why, "the agent answers with HTTP status ");
		add_number(why, answer->status);
		return;
	}
	add_foreign(why, error, true);
	add(why, " (step: ");
	add_foreign(why, step, true);
	add(why, "); remedy: ");
	add_foreign(why, remedy, true);
}

/* The agent, or Vault behind it, is not ready; the same request may succeed later. */
static bool heals(unsigned int status)
{
	return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

static enum outcome try(const struct wish *wish, int64_t deadline, int *count, struct line *why)
{
	struct answer answer = {0};
	enum reading reading;
	int64_t longest = now() + LONGEST_CALL;
	long failed = ask(wish->socket, deadline < longest ? deadline : longest, &answer, &reading);

	if (failed) {
		add(why, "no answer from the agent on this node: ");
		add_error(why, failed);
		add(why, " (");
		add_foreign(why, text_of(wish->socket), false);
		add(why, "); remedy: the agent's DaemonSet must run on this node");
		return OUTCOME_LATER;
	}
	if (reading == READING_COMPLETE && answer.status != 200) {
		explain(&answer, why);
		return heals(answer.status) ? OUTCOME_LATER : OUTCOME_NEVER;
	}
	if (reading == READING_COMPLETE)
		*count = read_variables(answer.body, variables);
	if (reading == READING_COMPLETE && *count >= 0)
		return OUTCOME_VARIABLES;
	add(why, STRANGE);
	return OUTCOME_NEVER;
}

/* Pods that start together do not ask together again. */
static int64_t with_jitter(int64_t pause)
{
	uint32_t random = 0;

	CALL3(getrandom, &random, sizeof(random), 0);
	return pause / 2 + (pause / 2 * (random >> 16) >> 16);
}

/* How many variables there are; does not return without them. */
static int wait_for_variables(const struct wish *wish)
{
	int64_t deadline = now() + wish->wait * NANOSECONDS, pause = FIRST_PAUSE;
	struct line reported = {0};

	for (;;) {
		struct line why = {0}, told = {0};
		int count = -1;
		enum outcome outcome = try(wish, deadline, &count, &why);

		if (outcome == OUTCOME_VARIABLES)
			return count;
		memset(received, 0, sizeof(received));
		if (outcome == OUTCOME_NEVER)
			refuse(&why, NOT_STARTED);
		bool late = now() >= deadline;

		add(&told, late ? "waited " : "waiting: ");
		if (late) {
			add_number(&told, (unsigned int)wish->wait);
			add(&told, " s; ");
		}
		for (size_t i = 0; i < why.size; i++)
			add_character(&told, why.text[i]);
		if (late)
			refuse(&told, NOT_STARTED);
		bool again = told.size == reported.size;

		for (size_t i = 0; again && i < told.size; i++)
			again = told.text[i] == reported.text[i];
		if (!again)
			report(&told);
		reported = told;
		int64_t next = now() + with_jitter(pause);

		readable_before(next < deadline ? next : deadline, -1);
		pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
	}
}

/* --- the command ------------------------------------------------------------------------------ */
/* Whether *variable* (NAME=value) is of the same name as one of the first *count* variables. */
static bool is_replaced(const char *variable, int count)
{
	for (int i = 0; i < count; i++) {
		size_t name = name_size(variables[i]), at = 0;

		while (at <= name && (unsigned char)variable[at] == variables[i].at[at])
			at++;
		if (at > name)
			return true;
	}
	return false;
}

/* *inherited*, and what is declared in place of what has its name there. */
static char **environment_of(char **inherited, int count)
{
	size_t size = 0, at = 0;

	while (inherited[size])
		size++;
	/* In pages of its own: nothing bounds how much kubelet gives a container. */
	long pages = CALL6(mmap, 0, (size + (size_t)count + 1) * sizeof(char *), READ_AND_WRITE,
			   PRIVATE_ANONYMOUS, -1, 0);

	if (pages < 0 && pages > -4096) {
		struct line why = {0};

		add(&why, "no memory for the environment");
		refuse(&why, NOT_STARTED);
	}
	char **made = (char **)pages;

	for (size_t i = 0; i < size; i++)
		if (!is_replaced(inherited[i], count))
			made[at++] = inherited[i];
	for (int i = 0; i < count; i++)
		made[at++] = (char *)variables[i].at;
	made[at] = 0;
	return made;
}

static const char *path_in(char **environment)
{
	for (; *environment; environment++) {
		const char *one = *environment;

		if (one[0] == 'P' && one[1] == 'A' && one[2] == 'T' && one[3] == 'H' &&
		    one[4] == '=')
			return one + 5;
	}
	return USUAL_PATH;
}

/* Returns only the error. A file in a folder of PATH that may not be executed is passed over. */
static long execute(char **command, char **environment)
{
	const char *name = command[0], *folder = path_in(environment);
	size_t size = length_of(name), named = place_of(text_of(name), '/', 0);
	long failed = -E_NOENT;

	if (!size)
		return failed;
	if (named < size)
		return CALL3(execve, name, command, environment);
	for (bool more = true; more;) {
		static char path[LONGEST_PATH];
		size_t length = 0, at = 0;

		while (folder[length] && folder[length] != ':')
			length++;
		if (length + size + 2 <= sizeof(path)) {
			memcpy(path, folder, length);
			at = length;
			/* An empty folder is the working directory. */
			if (length)
				path[at++] = '/';
			memcpy(path + at, name, size + 1);
			long one = CALL3(execve, path, command, environment);

			if (one != -E_NOENT && one != -E_NOTDIR && one != -E_ACCES)
				return one;
			if (one == -E_ACCES)
				failed = one;
		}
		more = folder[length] == ':';
		folder += length + 1;
	}
	return failed;
}

static _Noreturn void become(char **command, char **environment)
{
	long failed = execute(command, environment);
	struct line why = {0};

	add_foreign(&why, text_of(command[0]), false);
	add(&why, ": ");
	add_error(&why, failed);
	add(&why,
	    failed == -E_2BIG
		    ? "; remedy: declare fewer or shorter variables, and read large secrets from "
		      "their files or from the socket"
		    : "; remedy: name a program in the container's `command` that its image has "
		      "and its user may execute");
	refuse(&why, failed == -E_NOENT || failed == -E_NOTDIR ? NOT_FOUND : NOT_EXECUTABLE);
}

/* --- the start -------------------------------------------------------------------------------- */
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
	int count = wait_for_variables(&wish);

	become(wish.command, environment_of(environment, count));
}
