# SPDX-License-Identifier: BSD-2-Clause
# On a terminal: what a person types, and what must be on the screen then.
# typist STEPS COMMAND...: Python, where until(b"...") waits for something to be drawn,
# key(b"...") types. seen() is all since the last key.
typist() {
	cat >typist.py <<-'EOP'
		import fcntl, os, pty, select, signal, struct, sys, termios, time
		steps, command = sys.argv[1], sys.argv[2:]
		pid, fd = pty.fork()
		if pid == 0:
		    os.kill(os.getpid(), signal.SIGSTOP) # until it has a size
		    os.execvp(command[0], command)
		os.waitpid(pid, os.WUNTRACED)
		def resize(lines, columns):
		    fcntl.ioctl(fd, termios.TIOCSWINSZ,
		                struct.pack("HHHH", lines, columns, 0, 0))
		resize(24, 100)
		before = termios.tcgetattr(fd)
		os.kill(pid, signal.SIGCONT)
		seen, gone = b"", False
		def more():
		    global seen, gone
		    if select.select([fd], [], [], 0.1)[0]:
		        try:
		            got = os.read(fd, 65536)
		        except OSError:
		            got = b""
		        gone = gone or not got
		        seen += got
		def until(*what):
		    end = time.time() + 60
		    while not all(w in seen for w in what):
		        assert not gone and time.time() < end, (what, seen)
		        more()
		def key(text):
		    global seen
		    seen = b""
		    os.write(fd, text)
		def rows():
		    """Of what was drawn last, behind the table's head."""
		    end = time.time() + 60
		    while True:
		        more()
		        drawn = seen.split(b"\x1b[H")
		        if len(drawn) > 1 and b"; ? for" in drawn[-1]:
		            break # it is there to its end
		        assert not gone and time.time() < end, drawn[-1]
		    lines = drawn[-1].split(b"\r\n")
		    return [l.replace(b"\x1b[K", b"").decode().rstrip() for l in lines[4:-1]]
		exec(steps)
		end = time.time() + 60
		while not gone and time.time() < end:
		    more()
		status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		assert seen.rindex(b"\x1b[?1049l") > 0, seen
		assert b"\x1b[?25h" in seen
		assert termios.tcgetattr(fd) == before
		os.write(1, b"status %d\n" % status)
	EOP
	run python3 typist.py "$@"
	echo "$output"
	[ "$status" = 0 ]
}
