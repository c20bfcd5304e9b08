"""Runs a command in a terminal, types keys once a prompt is there, and prints what happened as JSON.

Usage: terminal.py PROMPT KEYS COMMAND...
"""

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time

prompt, keys, *command = sys.argv[1:]
terminal, inside = pty.openpty()
before = termios.tcgetattr(inside)
process = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
# A command that does not ask waits for a line for ever.
give_up = time.monotonic() + 120
shown = b""
is_typed = False
while True:
    if time.monotonic() > give_up:
        process.kill()
    # A command that has ended leaves its last lines in the terminal.
    has_ended = process.poll() is not None
    ready, _, _ = select.select([terminal], [], [], 0.05)
    if ready:
        shown += os.read(terminal, 65536)
    elif has_ended:
        break
    if not is_typed and prompt.encode() in shown:
        is_typed = True
        os.write(terminal, keys.encode())
print(
    json.dumps(
        {
            # Negative: ended by this signal.
            "code": process.returncode,
            "shown": shown.decode().replace("\r\n", "\n"),
            "restored": termios.tcgetattr(inside) == before,
        }
    )
)
