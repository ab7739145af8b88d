/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state: what the control thread has: one struct ctl, with the bridges and
 * ports that it serves. Shared by the files of ctl/ that each do one job on it;
 * nothing outside ctl/ includes it.
 *
 *	ctl.c        event loop, timers, start, stop, reload
 *	reconcile.c  from a plan to bridges and ports of the model, and a published view
 *	ports.c      ports of the data plane: open, close, rules
 *	fdbsync.c    the kernel's FDB events and dumps into our tables
 *	locals.c     the host's own addresses
 *	mdbsync.c    its multicast groups and router ports likewise
 *	brpoll.c     what it does not tell of bridges by itself; who decides multicast
 *	learn.c      what workers learned into the kernel's table; refresh, ageing
 *	due.c        when to look again if nothing happens
 *	show.c       everything as JSON
 *
 * Control thread only.
 */
#ifndef XB_CTL_STATE_H
#define XB_CTL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/drop.h"
#include "core/fdb.h"
#include "core/limits.h"
#include "core/model.h"
#include "ctl/conf.h"
#include "ctl/history.h"
#include "ctl/mcast.h"
#include "ctl/mirror.h"
#include "ctl/plan.h"
#include "dp/dp.h"
#include "util/log.h"

struct event;
struct event_base;
struct guard;
struct nlmsghdr;
struct rtmsg_info;
struct ctlsock;
struct rtsock;

#define CTL_NOTE_SIZE 160

/* A port, or the host port of a bridge. Its number in ctl.port[] is its slot. */
struct ctl_port {
	bool is_used;
	bool is_host;
	bool is_open;           /* the data plane has it */
	bool is_receive;        /* with XDP program and RX sockets */
	bool is_in_plan;        /* scratch of reconcile */
	bool is_receive_wanted; /* by the last try to open it */
	bool has_rules;         /* the program has .rules, since it was opened */
	struct xb_port_rules rules;
	uint16_t bridge;
	uint32_t ifindex;
	char name[NETINFO_NAME_SIZE];
	struct mac mac;
	struct mac local; /* passed to the host as its address; zero: none */
	uint32_t mtu;
	uint32_t n_rx_queues;
	uint32_t n_queues; /* in use when it was tried last (ethtool -L) */
	bool is_stale;     /* they are others now: to be opened anew */
	bool fdb_wanted;   /* new: its entries of the kernel's table have to be read */
	enum dp_mode mode;
	bool is_virtual;
	bool rxvlan_was_on;
	enum path_reason reason; /* why it is on the kernel path; PATH_NONE: user path */
	enum path_reason veto;   /* what trying said */
	uint64_t retry_ns;       /* when to try again; 0: on the next change of the port */
	uint32_t n_tries;
	uint64_t egress_retry_ns; /* when to try again as an egress alone */
	char note[CTL_NOTE_SIZE]; /* what the user should know, "" if nothing */
	bool uppers_failed;       /* the data plane may have others than .uppers */
	uint64_t *uppers; /* VIDs that the data plane was told to leave to devices; NULL: none */
	uint16_t router;  /* MP_ROUTER*, as the kernel said last */
	struct dp_port_counters closed; /* counters of the times it was open before */
};

/* Multicast of a bridge. */
struct ctl_mcast {
	bool snooping, vlan_snooping; /* these five as the last plan said */
	bool routers_hidden;
	bool igmp_v3, mld_v2;
	uint32_t to_unicast; /* index of a port that takes multicast as unicast; 0: none */
	bool has_mdb;        /* the kernel's groups have been read into ours */
	bool is_full;        /* and did not fit */
	struct querier querier[QUERIER_N];
	bool counts[QUERIER_N]; /* queriers, as the view has them */
	enum mcast_pass pass, told;
};

struct ctl_bridge {
	bool is_used;
	bool is_open; /* its gate */
	bool is_in_plan;
	bool has_fdb;        /* the kernel's table has been read into ours */
	bool statics_wanted; /* of the file: a port is new, and its static entries miss */
	uint32_t ifindex;
	char name[NETINFO_NAME_SIZE];
	enum conf_source source;
	enum path_reason reason;
	enum path_reason veto;
	uint64_t retry_ns;
	uint32_t n_tries;
	char note[CTL_NOTE_SIZE];
	struct dp_bridge_rules rules; /* that the XDP programs go by */
	uint32_t neigh; /* index of a port for which ARP and ND go to the kernel; 0: none */
	struct mac mac;
	struct fdb *fdb;
	struct local *local;      /* the host's own addresses */
	struct count_vlan *count; /* [n_workers * VID_N] */
	uint16_t host_slot;
	uint32_t h_ifindex, q_ifindex; /* of the host pair; 0: not made */
	uint32_t mtu;
	uint32_t n_receive;
	uint64_t hold_ns;
	struct ctl_mcast mcast;
	bool is_filtering;
	bool flush_wanted; /* nothing is learned any more: once workers know, what they did goes */
	struct fdb_cursor refresh; /* walk that refreshes and ages */
	uint64_t refresh_at_ns;
};

/* Addresses that are passed to the host: counted for each device, and for each entry that has it.
 */
struct ctl_local {
	uint64_t key; /* bridge << 48 | MAC */
	uint32_t n;
};

/* Tables of a bridge that is gone, freed when a view without them is published. */
struct ctl_trash {
	struct fdb *fdb;
	struct count_vlan *count;
};

#define CTL_TRASH_MAX (2 * XB_MAX_BRIDGES)

/* A port that left its bridge. */
struct ctl_left {
	uint16_t bridge;
	uint16_t slot;
};

struct ctl_stats {
	uint64_t n_resyncs, n_overruns, n_bad_messages;
	uint64_t n_plans, n_views;
	uint64_t n_learn_writes, n_learn_errors, n_refreshes, n_echoes;
	uint64_t n_neigh_events, n_neigh_dels, n_aged;
	uint64_t n_mdb_events, n_mdb_ends; /* all, and those of them that ended something */
	uint64_t n_again_lost;    /* that could not wait to be written: the table is read again */
	uint64_t n_learn_refused; /* that we forgot again because the kernel would not have them */
};

struct ctl {
	struct conf *conf;
	bool debug;
	const char *conf_path; /* NULL: defaults */
	struct event_base *base;
	struct event *ev_rt, *ev_dp, *ev_guard, *ev_tick, *ev_signal[4];
	struct rtsock *rt;
	struct guard *guard;
	struct dp *dp;
	struct mirror *mirror;
	struct model *model;
	struct ctlsock *sock;
	struct history history;

	struct ctl_bridge bridge[XB_MAX_BRIDGES];
	struct ctl_port port[XB_MAX_PORTS]; /* by slot; 0 is unused */
	uint16_t slot_end;                  /* slots from here on were never used */
	uint16_t slot_hint;
	uint16_t slot_of[1024]; /* slot that an interface's index led to, by its low bits; a hint */
	uint64_t model_gen;     /* of the view that is published */

	struct ctl_local *local;
	uint32_t n_locals, local_size;
	struct ctl_trash trash[CTL_TRASH_MAX];
	uint32_t n_trash;
	struct ctl_left left[XB_MAX_PORTS]; /* ports that left; see fdbsync_flush_left() */
	uint32_t n_left;

	uint32_t no_bridge[XB_MAX_BRIDGES]; /* devices that the user took for bridges, and was told
					     */
	uint32_t n_no_bridges;

	bool plan_wanted;      /* something changed */
	bool resync_wanted;    /* something was missed */
	bool fdb_wanted;       /* a bridge's FDB has to be read */
	uint64_t fdb_again_ns; /* when to read it again because it changed too much; 0: no need */
	uint64_t fdb_pause_ns;
	uint64_t locals_missed_ns, locals_pause_ns; /* more contradicts than there is room for */
	bool mdb_wanted;                            /* so have all bridges' multicast groups */
	uint64_t mdb_at_ns, mdb_next_ns;
	bool poll_wanted;    /* what bridges do not tell has to be asked for */
	bool routers_wanted; /* router ports too, soon: multicast passes */
	uint64_t routers_next_ns, routers_urgent_ns; /* not before, and not even if wanted */
	bool is_growing;     /* a table is: fdb_maintain() has to be called soon */
	bool is_writing;     /* stations wait for the next batch to the kernel */
	bool statics_wanted; /* static entries of the file may have changed */
	bool is_gate_open;
	bool is_overdue;         /* a resync takes too long: the kernel's bridges are shut */
	bool is_swept;           /* of what an earlier daemon left */
	uint64_t resync_from_ns; /* since when a resync is due; 0: none is */
	uint64_t resync_next_ns; /* not before */
	uint64_t now_ns;         /* of the current round of the event loop */
	uint64_t started_ns;
	bool has_mst; /* a bridge on the user path has MST on */
	uint64_t mst_at_ns;
	bool guard_wanted; /* the guard has to look again */
	uint64_t guard_at_ns;
	uint64_t away_at_ns; /* when other namespaces were looked into, */
	uint32_t away_next;  /* and where to go on */
	uint64_t checked_ns; /* when it was looked for what is to be tried again */
	uint64_t looked_ns;  /* when the ports' sockets and queues were looked at */
	struct log_limit limit_resync, limit_learn, limit_locals, limit_bad;
	struct ctl_stats stats;
	uint64_t watchdog_ns, watchdog_sent_ns; /* 0: the service manager wants none */
};

/* ---- reconcile.c ---- */

/* Makes a plan and takes the steps. 0, or a negative errno after which it should be tried again. */
int reconcile_run(struct ctl *c);

/*
 * First action when an interface vanishes: gives its port back at once. The
 * private pair of a bridge is to be made anew.
 */
void reconcile_link_gone(struct ctl *c, uint32_t ifindex);

/* Publishes a view of the model as it is. 0 or -ENOMEM. */
int reconcile_publish(struct ctl *c);

/* Closes everything: on exit. */
void reconcile_close_all(struct ctl *c);

/* What the plan speaks of; NULL if it is new. */
struct ctl_bridge *ctl_planned_bridge(struct ctl *c, const struct plan_bridge *pb);
struct ctl_port *ctl_find_port(struct ctl *c, uint16_t bridge, const struct plan_port *pp);

struct ctl_port *ctl_port_by_ifindex(struct ctl *c, uint32_t ifindex);
struct ctl_bridge *ctl_bridge_by_ifindex(struct ctl *c, uint32_t ifindex);
static inline uint16_t ctl_slot(const struct ctl *c, const struct ctl_port *p)
{
	return (uint16_t)(p - c->port);
}
static inline uint16_t ctl_index(const struct ctl *c, const struct ctl_bridge *b)
{
	return (uint16_t)(b - c->bridge);
}

/* ---- fdbsync.c ---- */

/* The bridge and the slot that a message is about; false for what is not ours. */
bool fdbsync_find(struct ctl *c, const struct neigh_info *n, struct ctl_bridge **b, uint16_t *slot);

/* One FDB message of the kernel; @is_dump: part of an answer, not news. */
void fdbsync_apply(struct ctl *c, const struct neigh_info *n);

/* An answer of the kernel to a question about one entry. */
void fdbsync_told(struct ctl *c, const struct neigh_info *n);

/*
 * Reads the kernel's table into ours and removes what the kernel no longer has.
 * Takes in events. If entries went while it was read, some may be missing: then
 * c->fdb_again_ns says when to do it again.
 */
int fdbsync_read(struct ctl *c);

/* The whole table is to be read again in @in_ns, or sooner if somebody else wants it. */
static inline void fdbsync_again(struct ctl *c, uint64_t in_ns)
{
	if (!c->fdb_again_ns || c->now_ns + in_ns < c->fdb_again_ns)
		c->fdb_again_ns = c->now_ns + in_ns;
}

/*
 * Reads the entries of the ports that want it: they are new, so nothing of theirs
 * can be gone. Takes in events; may ask for the whole table as above.
 */
int fdbsync_read_ports(struct ctl *c);

/*
 * Removes all entries of a port that leaves its bridge, addresses of the host included.
 * What a worker still learns there fdbsync_flush_left() removes, once no worker
 * has a view any more that has the port.
 */
void fdbsync_forget_port(struct ctl *c, uint16_t bridge, uint16_t slot);
void fdbsync_flush_left(struct ctl *c);

/* A local entry that no device explains comes into our table, or does not belong there. */
void fdbsync_store_local(struct ctl *c, struct ctl_bridge *b, const struct neigh_info *n,
			 uint16_t slot);
void fdbsync_drop_local(struct ctl *c, struct ctl_bridge *b, uint64_t key);

/* ---- locals.c ---- */

/*
 * The device of @p, a port or the host's, has address @mac: frames for it are
 * the host's, whatever the kernel's table says, and its entries are computed.
 */
void locals_set_device(struct ctl *c, struct ctl_port *p, const struct mac *mac);

/* Forgets the bridge's addresses of the host. */
void locals_forget(struct ctl *c, uint16_t bridge);

/* Addresses that the XDP programs pass; as often added as removed. */
void locals_pass_add(struct ctl *c, uint16_t bridge, const struct mac *mac);
void locals_pass_del(struct ctl *c, uint16_t bridge, const struct mac *mac);

/*
 * Settles what the kernel told of local entries and the devices do not explain;
 * asks the kernel for what stays unexplained. locals_settle() does nothing if
 * nothing waits and the model is the same; locals_settle_now() does not wait for
 * explanations on their way. Neither is of use before the plan that is wanted.
 */
void locals_settle(struct ctl *c, bool model_is_new);
void locals_settle_now(struct ctl *c);

/* ---- mdbsync.c ---- */

/* Slot of a port of the bridge, or of its host; 0: not ours. */
uint16_t mdbsync_slot(struct ctl *c, const struct ctl_bridge *b, uint32_t ifindex);

/* A notification about groups or router ports. */
void mdbsync_apply(struct ctl *c, const struct rtmsg_info *i, const struct nlmsghdr *h);

/* The bridge's groups are not what we have: multicast passes until they are read. */
void mdbsync_unread(struct ctl *c, struct ctl_bridge *b);

/* Reads the kernel's groups and router ports into the model if that is wanted. */
void mdbsync_run(struct ctl *c);

/* Reads the router ports alone. 0 or a negative errno. */
int mdbsync_read_routers(struct ctl *c);

/* The families of which the port is a router port, or its bridge a router: MP_ROUTER*. */
void mdbsync_set_router(struct ctl *c, uint16_t slot, uint16_t flags);

/* ---- brpoll.c ---- */

/*
 * Asks bridges, if that is wanted, for their promiscuity, queriers and router
 * ports, into mirror and model; may want a plan afterwards.
 */
void brpoll_ask(struct ctl *c);

/*
 * A link message of a bridge, in the order in which they came: what was switched
 * off and on again between two readings of the bridge is in them alone.
 */
void brpoll_link(struct ctl *c, const struct link_info *i);

/* Messages were lost: nobody knows what queriers did. */
void brpoll_unread(struct ctl *c);

/* Completes a plan, and the bridge's state from it, before the model is set. */
void brpoll_plan(struct ctl *c, struct ctl_bridge *b, struct plan_bridge *pb);

/* Why the bridge's multicast passes to the kernel now. */
enum mcast_pass brpoll_pass(const struct ctl *c, const struct ctl_bridge *b);

/* Publishes groups, routers and queriers that are new, and who decides multicast. */
void brpoll_decide(struct ctl *c);

/* ---- learn.c ---- */

/*
 * Writes what workers learned to the kernel until nothing is left or a bounded
 * amount is done; true if more waits. Takes in the events that this causes.
 */
bool learn_run(struct ctl *c);

/*
 * The part of the walk that refreshes active stations and ages ours which is due by
 * now; tables that have to grow do.
 */
void learn_refresh(struct ctl *c);

enum learn_origin {
	LEARN_NEWS,  /* of the kernel's own */
	LEARN_ECHO,  /* what a write that is under way caused */
	LEARN_OLDER, /* a write that is under way has replaced it, or will */
};

/* What made the kernel tell now that the station @key is on @slot. */
enum learn_origin learn_origin(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot);

/*
 * The kernel is to be told (again) that the station is on @slot. Goes with one of the next
 * batches; in a burst of about a thousand some are lost, and counted, and the
 * kernel's table is read again in a second. May be called while events or answers are read.
 */
void learn_again(struct ctl *c, uint16_t bridge, uint64_t key, uint16_t slot);

/* ---- ctl.c ---- */

/*
 * To be called between the parts of what may take long: the control thread is
 * alive. Bridges whose tables have been due for too long are shut here.
 */
void ctl_alive(struct ctl *c);

/* Reads links, ports and VLANs of the kernel anew; *@out is the caller's. -EINTR: try again. */
int ctl_read_mirror(struct ctl *c, struct mirror **out);

/*
 * One round: everything that waits is taken in and acted on, in the order that
 * keeps traffic right. Not from inside of what it calls.
 */
void ctl_catch_up(struct ctl *c);

/*
 * Takes in the events of the kernel that wait, up to a bound that the socket's buffer
 * does not reach: what the kernel did before is known then. Marks a resync when
 * some were lost.
 */
void ctl_read_events(struct ctl *c);

#endif
