// SPDX-License-Identifier: Apache-2.0
/* Becomes the command, as a shell would find it, with the declared variables in its environment. */
#ifndef NEMUTATOR_COMMAND_H
#define NEMUTATOR_COMMAND_H

#include "agent.h"

#define USUAL_PATH   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define LONGEST_PATH 4096

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

		forget_values();
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

	forget_values();
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

#endif
