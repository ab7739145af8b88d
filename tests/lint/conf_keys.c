/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the keys of the configuration file, for conf-docs.sh. */
#include <stdio.h>

#include "ctl/conf.h"

int main(void)
{
	conf_print_keys(stdout);
	return 0;
}
