/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "xbgen.h"

static const char usage[] =
	"usage: xbgen send --dev DEV --dst MAC --src MAC --count N [OPTION]...\n"
	"         --rate N      frames per second (default 10000; 0: as fast as it goes)\n"
	"         --burst N     frames sent at once (default: 0.5 ms of them, at most 32)\n"
	"         --smooth      who is late goes on from there, and does not catch up at once\n"
	"         --size N      bytes of a frame without its FCS (default 60)\n"
	"         --source N    number of this sender (default 1)\n"
	"         --first N     first sequence number (default 0)\n"
	"         --tag TAG     VID, TPID:VID or TPID:VID:PRIORITY; outermost first\n"
	"         --hex FILE    send these frames instead, one a line, --count times\n"
	"       xbgen recv --dev DEV [OPTION]...\n"
	"         --count N     frames that each sender sends: what is missing is lost\n"
	"         --until N     end after N different frames in all, and --settle\n"
	"         --settle MS   how long to wait for duplicates (default 200)\n"
	"         --timeout MS  end anyway (default 10000); so do SIGINT and SIGTERM\n"
	"         --idle MS     end when no numbered frame came for so long\n"
	"         --dump FILE   write the frames, one a line, accelerated tags put back\n"
	"         --all         dump other frames than numbered ones too\n"
	"         --ready FILE  is created once frames are counted\n"
	"       xbgen expect [--ordered] RECEIVED EXPECTED\n"
	"         compares two files of frames\n"
	"Results are JSON on standard output.\n";

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "send"))
		return send_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "recv"))
		return recv_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "expect"))
		return expect_main(argc - 1, argv + 1);
	fputs(usage, argc > 1 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc > 1 && !strcmp(argv[1], "--help") ? 0 : 2;
}
