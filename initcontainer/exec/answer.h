// SPDX-License-Identifier: Apache-2.0
/*
 * What the agent has answered, of bytes that nobody has looked at yet. No function here writes,
 * waits or calls the system: the same bytes give the same result, and a fuzzer feeds them (fuzz.c).
 *
 * Only what the agent writes is understood. Another answer is refused, not repaired.
 */
#ifndef NEMUTATOR_ANSWER_H
#define NEMUTATOR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a head: the agent's own is below 512. */
#define LARGEST_HEAD 8192
/* The agent gives 256 KiB of values, in at most 64 variables. */
#define LARGEST_BODY	 (512 * 1024)
#define MOST_VARIABLES	 256
#define LONGEST_VARIABLE 128

struct span {
	const unsigned char *at;
	size_t size;
};

struct answer {
	unsigned int status;
	struct span body;
};

enum reading {
	READING_COMPLETE,
	READING_UNFINISHED, /* more bytes may complete it */
	READING_STRANGE,    /* none will */
};

static inline bool is_digit(unsigned char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline unsigned char lower(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

static inline bool is(struct span span, const char *text)
{
	size_t i = 0;

	for (; i < span.size && text[i]; i++)
		if (lower(span.at[i]) != (unsigned char)text[i])
			return false;
	return i == span.size && !text[i];
}

static inline struct span part(struct span span, size_t from, size_t to)
{
	return (struct span){span.at + from, to - from};
}

/* Where *byte* is in *span* from *from* on; the size of *span* where it is not. */
static inline size_t place_of(struct span span, unsigned char byte, size_t from)
{
	while (from < span.size && span.at[from] != byte)
		from++;
	return from;
}

/* "HTTP/1.1 200 OK" */
static inline bool read_status(struct span line, unsigned int *status)
{
	if (line.size < 12 || !is(part(line, 0, 7), "http/1.") || !is_digit(line.at[7]) ||
	    line.at[8] != ' ' || (line.size > 12 && line.at[12] != ' '))
		return false;
	*status = 0;
	for (size_t i = 9; i < 12; i++) {
		if (!is_digit(line.at[i]))
			return false;
		*status = *status * 10 + (line.at[i] - '0');
	}
	return true;
}

static inline bool read_length(struct span text, size_t *length)
{
	size_t begin = 0, end = text.size;

	while (begin < end && text.at[begin] == ' ')
		begin++;
	while (end > begin && text.at[end - 1] == ' ')
		end--;
	/* Seven digits cannot overflow, and are more than a body may have. */
	if (begin == end || end - begin > 7)
		return false;
	*length = 0;
	for (; begin < end; begin++) {
		if (!is_digit(text.at[begin]))
			return false;
		*length = *length * 10 + (text.at[begin] - '0');
	}
	return *length <= LARGEST_BODY;
}

/* The size of the head with the empty line that ends it; 0 where that has not come yet. */
static inline size_t head_size(struct span bytes)
{
	for (size_t i = 3; i < bytes.size && i < LARGEST_HEAD; i++)
		if (bytes.at[i - 3] == '\r' && bytes.at[i - 2] == '\n' && bytes.at[i - 1] == '\r' &&
		    bytes.at[i] == '\n')
			return i + 1;
	return 0;
}

/* What two readers could understand differently (a second length, a body in chunks) is strange. */
static inline enum reading read_answer(struct span bytes, struct answer *answer)
{
	size_t head = head_size(bytes), length = 0;
	bool has_length = false;

	if (!head)
		return bytes.size < LARGEST_HEAD ? READING_UNFINISHED : READING_STRANGE;
	for (size_t begin = 0, end; begin < head - 2; begin = end + 2) {
		end = place_of(part(bytes, 0, head), '\r', begin);
		struct span line = part(bytes, begin, end);
		size_t colon = place_of(line, ':', 0);

		/* The head ends with \r\n, so another byte follows each \r in it. */
		if (bytes.at[end + 1] != '\n')
			return READING_STRANGE;
		if (!begin) {
			if (!read_status(line, &answer->status))
				return READING_STRANGE;
			continue;
		}
		if (colon == line.size)
			return READING_STRANGE;
		struct span name = part(line, 0, colon);

		if (is(name, "transfer-encoding") || is(name, "content-encoding"))
			return READING_STRANGE;
		if (!is(name, "content-length"))
			continue;
		if (has_length || !read_length(part(line, colon + 1, line.size), &length))
			return READING_STRANGE;
		has_length = true;
	}
	if (!has_length || bytes.size - head > length)
		return READING_STRANGE;
	answer->body = part(bytes, head, bytes.size);
	return answer->body.size == length ? READING_COMPLETE : READING_UNFINISHED;
}

/* The size of NAME in NAME=value; 0 where that is no name. */
static inline size_t name_size(struct span variable)
{
	size_t size = place_of(variable, '=', 0);

	if (size == variable.size || size > LONGEST_VARIABLE)
		return 0;
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = variable.at[i];

		if (!(byte == '_' || (lower(byte) >= 'a' && lower(byte) <= 'z') ||
		      (i && is_digit(byte))))
			return 0;
	}
	return size;
}

/* How many variables *body* has, each NAME=value with a zero byte behind it, or -1. */
static inline int read_variables(struct span body, struct span variables[MOST_VARIABLES])
{
	int count = 0;

	for (size_t begin = 0, end; begin < body.size; begin = end + 1) {
		end = place_of(body, 0, begin);
		if (end == body.size || count == MOST_VARIABLES)
			return -1;
		variables[count] = part(body, begin, end);
		if (!name_size(variables[count++]))
			return -1;
	}
	return count;
}

/* The end of the JSON text whose first byte behind the quote is at *from*; the size without one. */
static inline size_t end_of_text(struct span body, size_t from)
{
	for (; from < body.size && body.at[from] != '"'; from++)
		if (body.at[from] == '\\' && ++from == body.size)
			break;
	return from;
}

static inline size_t behind_spaces(struct span body, size_t at)
{
	while (at < body.size && (body.at[at] == ' ' || body.at[at] == '\n'))
		at++;
	return at;
}

/*
 * The text under *key* in a JSON object of texts, as it is written there, with its escapes. False
 * where *body* is something else.
 */
static inline bool json_text(struct span body, const char *key, struct span *text)
{
	size_t at = behind_spaces(body, 0);
	bool found = false;

	if (at == body.size || body.at[at] != '{')
		return false;
	do {
		struct span texts[2];

		for (int i = 0; i < 2; i++) {
			at = behind_spaces(body, at + 1);
			if (at >= body.size || body.at[at] != '"')
				return false;
			size_t end = end_of_text(body, at + 1);

			if (end >= body.size)
				return false;
			texts[i] = part(body, at + 1, end);
			at = behind_spaces(body, end + 1);
			if (i == 0 && (at == body.size || body.at[at] != ':'))
				return false;
		}
		if (is(texts[0], key)) {
			*text = texts[1];
			found = true;
		}
	} while (at < body.size && body.at[at] == ',');
	return found && at < body.size && body.at[at] == '}';
}

/*
 * The next character of a JSON text as it can be shown on one line of a terminal: what is not
 * printable ASCII is a space or a question mark. *at goes behind it.
 */
static inline char shown_character(struct span text, size_t *at)
{
	unsigned char byte = text.at[(*at)++];

	if (byte == '\\' && *at < text.size) {
		byte = text.at[(*at)++];
		if (byte == 'u') {
			*at = text.size - *at < 4 ? text.size : *at + 4;
			return '?';
		}
		if (byte >= 'a' && byte <= 'z')
			return ' ';
	}
	if (byte < ' ' || byte == 0x7f)
		return ' ';
	return byte < 0x7f ? (char)byte : '?';
}

#endif
