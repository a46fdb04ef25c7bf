// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of text for people: made of our words, of numbers, and of what strangers wrote, of which
 * only printable characters are shown. Nothing here calls the system.
 */
#ifndef NEMUTATOR_LINES_H
#define NEMUTATOR_LINES_H

#include "answer.h"
#include "linux.h"

/* Of each foreign part, so that the remedy has room as well. */
#define LONGEST_PART 500

struct line {
	size_t size;
	char text[2048];
};

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

#endif
