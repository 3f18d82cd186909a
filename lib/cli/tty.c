/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, hidden cursor, no wrapping at the right edge; and back. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

enum {
	WRITE_MS = 20,	 /* longest wait for a terminal that has not stalled */
	LEAVE_MS = 1000, /* longest wait when the screen is left */
};

static struct {
	volatile bool on;
	bool stalled; /* it did not take all of the last text */
	int out, in;
	bool close_in; /* in is /dev/tty, not stdin */
	struct termios was;
	char bytes[64]; /* n bytes of keys, not yet decoded */
	size_t n;
} tty;

bool tty_is_open(void)
{
	return tty.on;
}

/* Writes text; waits wait_ms each time for the terminal to take more. */
static void write_terminal(const char *text, size_t len, int wait_ms)
{
	struct pollfd p = {.fd = tty.out, .events = POLLOUT};

	while (len) {
		ssize_t n = write(tty.out, text, len);

		if (n > 0) {
			text += n;
			len -= (size_t)n;
		} else if (n == 0 || errno != EAGAIN || !wait_ms ||
			   poll(&p, 1, wait_ms) != 1) {
			break;
		}
	}
	tty.stalled = len > 0;
}

void tty_put(const char *text, size_t len)
{
	write_terminal(text, len, tty.stalled ? 0 : WRITE_MS);
}

void tty_close(void)
{
	if (!tty.on)
		return;
	tty.on = false;
	write_terminal(leave, sizeof(leave) - 1, LEAVE_MS);
	tcsetattr(tty.in, TCSANOW, &tty.was);
	if (tty.out != STDOUT_FILENO)
		close(tty.out);
	if (tty.close_in)
		close(tty.in);
}

/* Opens the terminal of stdout once more, with O_NONBLOCK: set on stdout
 * itself, that would hold for all programs that share it. */
static void open_out(void)
{
	tty.out = open("/proc/self/fd/1",
		       O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (tty.out < 0)
		tty.out = STDOUT_FILENO;
	tty.stalled = false;
}

/* Keys come one by one, without echo. ^C still sends SIGINT; ^Z is off, as a
 * shell would find the terminal in this state. */
static int set_key_mode(void)
{
	struct termios raw;

	if (tcgetattr(tty.in, &tty.was) < 0)
		return -errno;
	raw = tty.was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	return tcsetattr(tty.in, TCSANOW, &raw) < 0 ? -errno : 0;
}

int tty_open(void)
{
	static bool handled;
	int rc;

	tty.close_in = !isatty(STDIN_FILENO);
	tty.in = tty.close_in ? open("/dev/tty", O_RDONLY | O_CLOEXEC)
			      : STDIN_FILENO;
	if (tty.in < 0)
		return -errno;
	tty.n = 0;
	rc = set_key_mode();
	if (rc < 0) {
		if (tty.close_in)
			close(tty.in);
		return rc;
	}
	if (!handled)
		atexit(tty_close);
	handled = true;
	open_out();
	tty.on = true;
	tty_put(enter, sizeof(enter) - 1);
	return 0;
}

void tty_size(unsigned *columns, unsigned *lines)
{
	struct winsize w = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	*columns = w.ws_col ? w.ws_col : 80;
	*lines = w.ws_row ? w.ws_row : 24;
}

bool tty_colour(int fd)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fd) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}

/* A key is a byte; or ESC [, parameters, and a last byte of 0x40 to 0x7e
 * (ECMA-48, section 5.4); or ESC O and a letter. *used: its bytes. */
static int decode_key(const char *bytes, size_t n, size_t *used)
{
	/* last bytes, and then parameters before a last byte of ~ */
	static const char codes[] = "ABCDHF174856";
	static const int keys[] = {KEY_UP,   KEY_DOWN,	  KEY_RIGHT,
				   KEY_LEFT, KEY_HOME,	  KEY_END,
				   KEY_HOME, KEY_HOME,	  KEY_END,
				   KEY_END,  KEY_PAGE_UP, KEY_PAGE_DOWN};
	const char *at;
	size_t i = 2;
	char c;

	*used = 1;
	if (bytes[0] != KEY_ESCAPE || n < 3 ||
	    (bytes[1] != '[' && bytes[1] != 'O'))
		return (unsigned char)bytes[0];
	while (i < n && (unsigned char)(bytes[i] - 0x40) > 0x3e)
		i++;
	*used = i < n ? i + 1 : n;
	if (i == n)
		return KEY_OTHER;
	c = bytes[i];
	if (c == '~')
		c = i == 3 || bytes[3] == ';' ? bytes[2] : '~';
	at = memchr(codes, c, sizeof(codes) - 1);
	return at ? keys[at - codes] : KEY_OTHER;
}

/* Reads bytes of keys, if some come within wait_ms. False: end of input. */
static bool read_bytes(int wait_ms)
{
	struct pollfd p = {.fd = tty.in, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return true;
	n = read(tty.in, tty.bytes, sizeof(tty.bytes));
	if (n > 0)
		tty.n = (size_t)n;
	return n > 0 || (n < 0 && errno == EINTR);
}

int tty_key(int wait_ms)
{
	size_t used;
	int key;

	if (!tty.n && !read_bytes(wait_ms))
		return KEY_END_OF_INPUT;
	if (!tty.n)
		return KEY_NONE;
	key = decode_key(tty.bytes, tty.n, &used);
	tty.n -= used;
	memmove(tty.bytes, tty.bytes + used, tty.n);
	return key;
}
