// SPDX-License-Identifier: Apache-2.0
/* Asks the agent for the variables of this pod, until they are there or will not come. */
#ifndef NEMUTATOR_AGENT_H
#define NEMUTATOR_AGENT_H

#include "process.h"

#define REQUEST "GET /v1/env?format=nul HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n"

/* The agent's own deadlines are shorter, so this one is for an agent that hangs. */
#define LONGEST_CALL  (30 * NANOSECONDS)
#define FIRST_PAUSE   (NANOSECONDS / 4)
#define LONGEST_PAUSE (5 * NANOSECONDS)

static const char STRANGE[] = "the agent's answer is not understood; remedy: let the init "
			      "container's image and the agent's be of one version";

enum outcome {
	OUTCOME_VARIABLES,
	OUTCOME_LATER, /* the same question may be answered later */
	OUTCOME_NEVER, /* a person has to change something */
};

/* The agent's answer, and pointers into it. */
static unsigned char received[LARGEST_HEAD + LARGEST_BODY + 1];
static struct span variables[MOST_VARIABLES];

static void forget_values(void)
{
	memset(received, 0, sizeof(received));
}

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
	/* An agent that refuses a connection answers without reading, and closes: this fails then,
	 * and the answer is there all the same. */
	CALL6(sendto, agent, REQUEST, sizeof(REQUEST) - 1, NO_SIGNAL, 0, 0);
	*reading = READING_UNFINISHED;
	long failed = receive((int)agent, deadline, answer, reading);
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

static enum outcome try(const char *socket, int64_t deadline, int *count, struct line *why)
{
	struct answer answer = {0};
	enum reading reading;
	int64_t longest = now() + LONGEST_CALL;
	long failed = ask(socket, deadline < longest ? deadline : longest, &answer, &reading);

	if (failed) {
		add(why, "no answer from the agent on this node: ");
		add_error(why, failed);
		add(why, " (");
		add_foreign(why, text_of(socket), false);
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
static int wait_for_variables(const char *socket, int64_t seconds)
{
	int64_t deadline = now() + seconds * NANOSECONDS, pause = FIRST_PAUSE;
	struct line reported = {0};

	for (;;) {
		struct line why = {0}, shown = {0};
		int count = -1;
		enum outcome outcome = try(socket, deadline, &count, &why);

		if (outcome == OUTCOME_VARIABLES)
			return count;
		forget_values();
		if (outcome == OUTCOME_NEVER)
			refuse(&why, NOT_STARTED);
		bool late = now() >= deadline;

		add(&shown, late ? "waited " : "waiting: ");
		if (late) {
			add_number(&shown, (unsigned int)seconds);
			add(&shown, " s; ");
		}
		for (size_t i = 0; i < why.size; i++)
			add_character(&shown, why.text[i]);
		if (late)
			refuse(&shown, NOT_STARTED);
		bool again = shown.size == reported.size;

		for (size_t i = 0; again && i < shown.size; i++)
			again = shown.text[i] == reported.text[i];
		if (!again)
			report(&shown);
		reported = shown;
		int64_t next = now() + with_jitter(pause);

		readable_before(next < deadline ? next : deadline, -1);
		pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
	}
}

#endif
