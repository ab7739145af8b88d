/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show: the answers of the control protocol (ctl/ctlmsg.h), made from the state
 * of the control thread in parts, so that none takes long and a large table never
 * lies in memory as text. What changes between two parts may be in the answer or
 * not; each object that is there is consistent.
 *
 * Control thread only.
 */
#ifndef XB_CTL_SHOW_H
#define XB_CTL_SHOW_H

struct ctl;
struct ctlmsg_request;
struct evbuffer;
struct show;

/*
 * Begins the answer to @r. 0; -ENODEV, -EINVAL or -ENOMEM with a sentence in
 * @why, static. Nothing is done yet, a flush neither.
 */
int show_new(struct ctl *c, const struct ctlmsg_request *r, struct show **out, const char **why);

/*
 * Adds the next part to @out, CTLMSG_OK_HEAD and CTLMSG_OK_TAIL included: about
 * 32 KiB, or what is made in 1 ms; one object may take longer or be larger (up to
 * 512 KiB, the flood arrays of a VLAN with 1,023 ports). 1: there is more; 0: the
 * answer is complete; -ENOMEM: it cannot be completed.
 */
int show_step(struct show *s, struct evbuffer *out);

/* At any time. NULL is allowed. */
void show_free(struct show *s);

#endif
