// SPDX-License-Identifier: Apache-2.0
/* What libFuzzer gives to the parser of nemutator-exec (tests/drill/init/test_exec_fuzz.py). */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static void show(struct span text)
{
	for (size_t at = 0; at < text.size;) {
		size_t before = at;
		char one = shown_character(text, &at);

		assert(at > before && at <= text.size);
		assert(one >= ' ' && one < 0x7f);
	}
}

static void read_body(struct span body)
{
	static const char *const keys[] = {"error", "remedy", "step"};
	struct span variables[MOST_VARIABLES], text;
	int count = read_variables(body, variables);

	for (int i = 0; i < count; i++) {
		size_t name = name_size(variables[i]);

		assert(name > 0 && variables[i].at[name] == '=');
		/* execve() reads up to the zero byte, so nothing may lie between. */
		assert(strlen((const char *)variables[i].at) == variables[i].size);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_text(body, keys[i], &text))
			show(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly this size, so that a byte too far is noticed. */
	unsigned char *bytes = malloc(size ? size : 1);
	struct answer answer = {0};

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	if (read_answer((struct span){bytes, size}, &answer) == READING_COMPLETE) {
		assert(answer.status <= 999);
		read_body(answer.body);
	}
	read_body((struct span){bytes, size});
	free(bytes);
	return 0;
}
