/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdb: the forwarding database of one bridge, (VID, MAC) -> port.
 *
 * There is one struct fdb for each bridge. VID is 0 on a bridge that does not
 * filter VLANs. It knows neither port states nor netlink nor the clock: who
 * may learn is the caller's business, and so is a hold time of 0, with which
 * fdb_learn() must not be called at all.
 *
 * Threads:
 *	[any]     any number of threads. Never waits: at most one step for each
 *	          table that a resize left behind, each of bounded length.
 *	[worker]  any number of threads. Never allocates; takes the lock of one
 *	          bucket when it has to write, and gives up after a bounded wait.
 *	[control] one thread at a time, beside the workers. May allocate.
 * All are QSBR threads of liburcu: a worker is registered and says that it is
 * quiescent between batches, never inside a call here. The control thread is
 * registered and online; one thread alone (a unit test) may be neither.
 *
 * Time is monotonic ns, kept in units of 2^20 ns (1.05 ms), rounded down, in
 * 44 bits: all that 64 bits of ns can say, so it does not wrap.
 *
 * Space: a removed entry leaves its place to nobody but its own key, until
 * fdb_maintain() has built the table anew (see fdb_grow.c). An insert that
 * finds no place, or more entries than allowed, fails and is counted.
 */
#ifndef XB_CORE_FDB_H
#define XB_CORE_FDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "util/mac.h"

enum fdb_flag {
	FDB_LOCAL = 1 << 0,  /* an address of the host; never changed by a frame */
	FDB_STATIC = 1 << 1, /* does not age; moves with its station */
	FDB_STICKY = 1 << 2, /* does not move */
	FDB_EXTERN = 1 << 3, /* extern_learn: does not age, until it moves */
	FDB_KERNEL = 1 << 4, /* the kernel's table holds it on that port: only the kernel ages it */
	FDB_USER = 1 << 5,   /* added by the user */
	FDB_LOCKED = 1 << 6, /* of a locked port, not authorised */
};

/* A copy of an entry, or an entry to be added. */
struct fdb_entry {
	struct mac mac;
	uint16_t vid;
	uint16_t port;  /* slot, below XB_MAX_PORTS */
	uint16_t flags; /* enum fdb_flag */
	uint64_t seen_ns;
};

/* Where a frame goes: @dst = port << 12 | vid is the address of a port-VLAN entry. */
struct fdb_dst {
	uint32_t dst;
	uint16_t flags;
};

struct fdb_config {
	uint32_t max_entries;    /* hard bound, of any kind; 1 .. 2^26 */
	uint32_t max_learned;    /* limit of learned entries; 0: none */
	uint32_t n_buckets;      /* to begin with and at least; 0: 256; see FDB_BUCKETS_MIN */
	uint64_t granularity_ns; /* 0: 1 s; see fdb_set_granularity() */
	uint64_t seed[2];        /* random, so that no station can choose collisions */
	/*
	 * Memory of the tables, both or neither (NULL: calloc and free). alloc():
	 * @size bytes, all 0, aligned to 64, or NULL; its pages need not be
	 * present. free() gets the same size; any thread may call it.
	 */
	void *(*alloc)(size_t size);
	void (*free)(void *p, size_t size);
};

#define FDB_BUCKETS_MIN 16 /* what fdb_config asks for is rounded up to a power of 2 */
#define FDB_ANY         UINT16_MAX

enum fdb_learned {
	FDB_SAME,      /* known there; nothing written */
	FDB_REFRESHED, /* known there; its time was written, at most once per granularity */
	FDB_NEW,       /* entered */
	FDB_MOVED,     /* was on another port */
	FDB_OWN,       /* LOCAL: nothing changed */
	FDB_STUCK,     /* STICKY on another port: not moved (its time may be written) */
	FDB_FULL,      /* not entered: max_entries, or no place until fdb_maintain() */
	FDB_LIMIT,     /* not entered: max_learned */
	FDB_BUSY,      /* nothing changed: another thread kept the bucket; a later frame learns */
};

struct fdb_stats {
	uint64_t n_entries;
	uint64_t n_learned; /* what max_learned bounds */
	uint64_t n_local;
	uint64_t n_dead;    /* places that only a rebuild frees */
	uint64_t n_buckets; /* without overflow buckets */
	uint64_t mem_size;  /* bytes of the tables in use */
	uint64_t n_moves;   /* FDB_MOVED */
	uint64_t n_full;    /* failed inserts: max_entries */
	uint64_t n_no_room; /* failed inserts: no place */
	uint64_t n_limit;   /* failed inserts: max_learned */
	uint64_t n_busy;    /* FDB_BUSY */
	uint64_t n_resizes; /* rebuilds to the same size included */
	uint64_t n_carried; /* buckets carried over to a new table */
};

/* Which entries fdb_flush() removes: all that match each field. */
struct fdb_filter {
	uint16_t port; /* or FDB_ANY */
	uint16_t vid;  /* or FDB_ANY */
	uint16_t mask; /* (entry.flags & mask) == flags */
	uint16_t flags;
};

/* Where a walk is; { 0 } is the beginning. */
struct fdb_cursor {
	uint64_t pos;
};

typedef void (*fdb_cb)(const struct fdb_entry *e, void *arg);

/*
 * [control] The caller owns the table; NULL: no memory, or max_entries is not
 * allowed. fdb_free() wants every reader to be done with it, and waits for the
 * grace periods of old tables; fdb_free(NULL) does nothing.
 */
struct fdb *fdb_new(const struct fdb_config *cfg);
void fdb_free(struct fdb *f);

/* A number that follows from fdb_config's seed, for other tables of the same bridge. */
uint64_t fdb_seed(const struct fdb *f);

/* [any] The key of the functions below; @vid is 0..VID_MAX. */
static inline uint64_t fdb_key(uint16_t vid, const struct mac *m)
{
	return (uint64_t)vid << 48 | mac_to_u64(m);
}

static inline uint16_t fdb_dst_port(uint32_t dst)
{
	return (uint16_t)(dst >> 12);
}

static inline uint16_t fdb_dst_vid(uint32_t dst)
{
	return dst & (VID_N - 1);
}

/* [any] Asks for the memory that a call with this key will read, a batch ahead. */
static inline void fdb_prefetch(const struct fdb *f, uint64_t key);

/*
 * [any] True, and *@out written, if the key is in the table. An entry that is
 * in the table during the whole call is found, also while the table is resized,
 * and *@out is what the entry was at some moment of the call.
 */
static inline bool fdb_lookup(const struct fdb *f, uint64_t key, struct fdb_dst *out);

/*
 * [worker] A frame with this source came in on @port, as a bridge does it: an
 * unknown key is entered as dynamic, a known one on another port moves (it
 * keeps its flags but EXTERN, LOCKED and KERNEL). Counted by max_learned is an entry
 * made here, until the control thread replaces it or gives it one of LOCAL,
 * STATIC, EXTERN, USER. While the table is resized a call that has to write
 * carries over up to three buckets.
 */
enum fdb_learned fdb_learn(struct fdb *f, uint64_t key, uint16_t port, uint64_t now_ns);

/*
 * [worker] The same, but before an unknown key is entered @guard is asked: FDB_OWN,
 * and nothing is entered, if it returns true.
 */
struct fdb_guard {
	bool (*is_own)(const struct fdb_guard *g, uint64_t key);
};
enum fdb_learned fdb_learn_guarded(struct fdb *f, uint64_t key, uint16_t port, uint64_t now_ns,
				   const struct fdb_guard *guard);

/* [any] 0 and a copy in *@out, or -ENOENT. */
int fdb_get(const struct fdb *f, uint64_t key, struct fdb_entry *out);

/*
 * [control] Adds the entry, or replaces it, as given. 0 or -ENOSPC. Grows the
 * table itself, a little in each call (FDB_ADD_BYTES made present, three
 * buckets carried over), so that no call of many stalls its thread.
 */
int fdb_add(struct fdb *f, const struct fdb_entry *e);
/*
 * [control] The same, unless a worker saw the key on another port and the
 * kernel does not hold it there (it has not FDB_KERNEL): then -EEXIST.
 */
int fdb_add_unless_moved(struct fdb *f, const struct fdb_entry *e);
#define FDB_ADD_BYTES (64U << 10)

/*
 * [control] Gives the entry the bits @flags of @mask and leaves the others, if
 * it is on @port (or FDB_ANY). 0 or -ENOENT.
 */
int fdb_set_flags(struct fdb *f, uint64_t key, uint16_t port, uint16_t mask, uint16_t flags);

/* [control] Removes it; fdb_del_if() only if it is on @port. 0 or -ENOENT. */
int fdb_del(struct fdb *f, uint64_t key);
int fdb_del_if(struct fdb *f, uint64_t key, uint16_t port);

/* [control] Removes what matches, in one go; the number of removed entries. */
uint32_t fdb_flush(struct fdb *f, const struct fdb_filter *filter);

/*
 * [any] Goes on from @c over about @n_buckets buckets (at least one) and hands
 * a copy of each entry to @cb, which may call any function of its thread's kind.
 * True if there is more; at the end false, and @c is at the beginning again. An
 * entry that is there during the whole walk is seen exactly once, whatever
 * resizes happen; one that comes or goes meanwhile is seen once or not at all.
 */
bool fdb_walk(const struct fdb *f, struct fdb_cursor *c, uint32_t n_buckets, fdb_cb cb, void *arg);

/*
 * [control] Goes on from @c likewise and removes what was not seen for
 * @hold_ns (at most 1.05 ms early) and is none of STATIC, LOCAL, EXTERN,
 * KERNEL; a copy of each goes to @cb unless it is NULL. The number of removed
 * entries; @c is at the beginning again when the table has been passed once.
 */
uint32_t fdb_age(struct fdb *f, uint64_t now_ns, uint64_t hold_ns, struct fdb_cursor *c,
		 uint32_t n_buckets, fdb_cb cb, void *arg);

/* [control] Every how often a worker writes the time of an entry: min(1 s, hold / 8). */
void fdb_set_granularity(struct fdb *f, uint64_t ns);
/* [control] A new max_learned; entries above it stay. */
void fdb_set_max_learned(struct fdb *f, uint32_t max_learned);

/*
 * [control] To be called every few ms: begins a resize or rebuild that is
 * due, makes at most FDB_MAINTAIN_BYTES of a new table present, carries at most
 * FDB_MAINTAIN_BUCKETS buckets over, hands an old table to liburcu. True if a
 * resize is under way, so that another call soon is useful. @now_ns spaces
 * retries when memory is short.
 */
bool fdb_maintain(struct fdb *f, uint64_t now_ns);
#define FDB_MAINTAIN_BUCKETS 4096
#define FDB_MAINTAIN_BYTES   (4U << 20)

/* [any] Exact if nobody writes at the same time. */
void fdb_stats(const struct fdb *f, struct fdb_stats *out);

#include "core/fdb_table.h" // IWYU pragma: export

#endif
