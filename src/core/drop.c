/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/drop.h"

struct reason_text {
	const char *name;
	const char *text;
};

#define XB_ROW(sym, name, text) { name, text },
static const struct reason_text drops[] = { DROP_REASONS(XB_ROW) };
static const struct reason_text punts[] = { PUNT_REASONS(XB_ROW) };
static const struct reason_text paths[] = { PATH_REASONS(XB_ROW) };
#undef XB_ROW

const char *drop_name(unsigned int reason)
{
	return reason < DROP_N ? drops[reason].name : "unknown";
}

const char *drop_text(unsigned int reason)
{
	return reason < DROP_N ? drops[reason].text : "unknown";
}

const char *punt_name(unsigned int reason)
{
	return reason < PUNT_N ? punts[reason].name : "unknown";
}

const char *punt_text(unsigned int reason)
{
	return reason < PUNT_N ? punts[reason].text : "unknown";
}

const char *path_name(unsigned int reason)
{
	return reason < PATH_N ? paths[reason].name : "unknown";
}

const char *path_text(unsigned int reason)
{
	return reason < PATH_N ? paths[reason].text : "unknown";
}
