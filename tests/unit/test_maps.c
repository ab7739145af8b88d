// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "xb_maps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "xb_host.skel.h"
#include "xb_xdp.skel.h"
#include "xb_xdp_tags.skel.h"
#pragma GCC diagnostic pop

/* What the daemon, compiled for this machine, believes about the maps. */
static const struct map_shape {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t n_max;
	uint32_t flags;
} shapes[] = {
	/* clang-format off */
	{ "xb_ports",    BPF_MAP_TYPE_ARRAY, 4, sizeof(struct xb_port), XB_MAX_PORTS, 0 },
	{ "xb_bridges",  BPF_MAP_TYPE_ARRAY, 4, sizeof(struct xb_bridge), XB_MAX_BRIDGES, 0 },
	{ "xb_queues",   BPF_MAP_TYPE_ARRAY, 4, 4, XB_MAX_PORTS * XB_MAX_QUEUES, 0 },
	{ "xb_socks",    BPF_MAP_TYPE_XSKMAP, 4, 4, XB_MAX_PORTS * XB_MAX_QUEUES, 0 },
	{ "xb_sentinel", BPF_MAP_TYPE_XSKMAP, 4, 4, 2, 0 },
	{ "xb_gate",     BPF_MAP_TYPE_ARRAY, 4, sizeof(struct xb_gate), 1, BPF_F_MMAPABLE },
	{ "xb_locals",   BPF_MAP_TYPE_HASH, sizeof(struct xb_local_key), 1, XB_MAX_LOCALS, BPF_F_NO_PREALLOC },
	{ "xb_uppers",   BPF_MAP_TYPE_HASH, 4, 1, XB_MAX_UPPERS, BPF_F_NO_PREALLOC },
	{ "xb_punts",    BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct xb_punts), XB_MAX_PORTS, 0 },
	/* clang-format on */
};

static void map_is_of_shape(struct bpf_object *obj, const struct map_shape *s)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, s->name);

	if (!map || bpf_map__type(map) != s->type || bpf_map__key_size(map) != s->key_size ||
	    bpf_map__value_size(map) != s->value_size || bpf_map__max_entries(map) != s->n_max ||
	    bpf_map__map_flags(map) != s->flags)
		fail_msg("%s is not what the daemon takes it for", s->name);
}

/* All that is not shared is the read-only data, of @size bytes: no .bss and no .data. */
static void own_data_is_read_only(struct bpf_object *obj, size_t size)
{
	struct bpf_map *map = NULL;
	int n = 0;

	while ((map = bpf_object__next_map(obj, map))) {
		if (!bpf_map__is_internal(map))
			continue;
		n++;
		assert_non_null(strstr(bpf_map__name(map), ".rodata"));
		assert_int_equal(bpf_map__value_size(map), size);
	}
	assert_int_equal(n, 1);
}

static struct bpf_object *object_open(const void *elf, size_t size)
{
	struct bpf_object *obj = bpf_object__open_mem(elf, size, NULL);

	assert_non_null(obj);
	return obj;
}

static void both_objects_have_the_maps_of_the_daemon(void **state)
{
	(void)state;
	for (int tags = 0; tags < 2; tags++) {
		size_t size;
		const void *elf = tags ? xb_xdp_tags__elf_bytes(&size) : xb_xdp__elf_bytes(&size);
		struct bpf_object *obj = object_open(elf, size);

		for (size_t i = 0; i < N_ELEM(shapes); i++)
			map_is_of_shape(obj, &shapes[i]);
		own_data_is_read_only(obj, sizeof(struct xb_port_const));
		assert_non_null(bpf_object__find_program_by_name(obj, "xb_xdp"));
		bpf_object__close(obj);
	}
}

static void the_host_object_has_only_its_constants(void **state)
{
	size_t size;
	const void *elf = xb_host__elf_bytes(&size);
	struct bpf_object *obj = object_open(elf, size);

	(void)state;
	own_data_is_read_only(obj, sizeof(struct xb_host_const));
	assert_non_null(bpf_object__find_program_by_name(obj, "xb_host"));
	bpf_object__close(obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_objects_have_the_maps_of_the_daemon),
		cmocka_unit_test(the_host_object_has_only_its_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
