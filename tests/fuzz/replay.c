/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay: runs a fuzzer's function over files instead of inputs of libFuzzer.
 *
 * Arguments are files. Without any, the files are those of
 * $srcdir/tests/fuzz/corpus/MODULE, for a program called fuzz_MODULE; to find
 * none there is a failure.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (1 << 20)

static int replay_file(const char *path)
{
	static uint8_t room[INPUT_MAX];
	uint8_t *data;
	size_t n;
	FILE *f;

	f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return -1;
	}
	n = fread(room, 1, sizeof(room), f);
	fclose(f);
	/* Named first: after a crash the last line tells which file it was. */
	printf("%s: %zu bytes\n", path, n);
	fflush(stdout);
	/* A copy without a byte of room behind it, so that ASan sees a read past the input. */
	data = malloc(n ? n : 1);
	if (!data)
		return -1;
	memcpy(data, room, n);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

static int replay_corpus(const char *module)
{
	const char *srcdir = getenv("srcdir");
	char dir[4096], path[8192];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", module);
	d = opendir(dir);
	if (!d) {
		perror(dir);
		return 1;
	}
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (replay_file(path)) {
			closedir(d);
			return 1;
		}
		n++;
	}
	closedir(d);
	printf("%d files\n", n);
	return n ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *module;

	if (argc > 1) {
		for (int i = 1; i < argc; i++) {
			if (replay_file(argv[i]))
				return 1;
		}
		return 0;
	}
	module = strstr(argv[0], "fuzz_");
	return module ? replay_corpus(module + strlen("fuzz_")) : 1;
}
