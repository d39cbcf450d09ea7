/**
 * Waking an idle session without a terminal: a hook with `asyncRewake: true` runs beside the session; when it ends with 2, the client
 * begins a turn with what it wrote to stderr. The waiter is such a hook. It sleeps in a read on a named pipe of its own,
 * `<folder>/<client>.<waiter>`, until the name of a file beside it is written there, says what the file holds, and is gone.
 *
 * Seen with 2.1.325:
 * - It is needed at SessionStart (a session that was never prompted can be woken) and at every Stop, because a wake uses it up.
 * - Asleep it costs no processor time and 0.4 MB (3.2 MB resident, most of it bash itself), and the session counts as idle. Without `exec`
 *   the client's `sh -c` stays beside it.
 * - It survives `/clear`, and would speak into the fresh session; so each new waiter sends the older ones of its client home.
 *   Only older ones: two that begin at once would else both be gone.
 * - A wake fires UserPromptSubmit with the text in its prompt, which confirms it. A draft in the composer stays. In the conversation
 *   the user sees only `Stop hook feedback`, and the model is told that it is no word of the user.
 * - In `-p` and SDK runs the client waits for such a hook: there it ends at once.
 * - When the client leaves, it ends its hooks. When it is killed, nobody does; so the waiter looks, every five minutes, whether
 *   it has been given another parent. That, and nothing else, is done on a clock.
 */
export const WAITER_EVENTS = ['SessionStart', 'Stop'] as const

/** What the settings say for each of these events. `path`: where the script lies. */
export function waiterHook(path: string): { type: 'command'; command: string; asyncRewake: true; timeout: number } {
  const quoted = `'${path.replaceAll("'", "'\\''")}'`
  return { type: 'command', command: `exec /bin/bash ${quoted}`, asyncRewake: true, timeout: A_WEEK }
}

/** Seconds. Where it ends sooner the next turn begins another. */
const A_WEEK = 7 * 24 * 60 * 60

/** The waiter's program. `folder`: where the pipes lie; it is made with the first. `every`: seconds between two looks at its parent. */
export function waiterScript(folder: string, every = 300): string {
  const quoted = `'${folder.replaceAll("'", "'\\''")}'`
  return `#!/bin/bash
# Sleeps until Baton has something to say to an idle session. Written by Baton; removed with it.
exec </dev/null
[ "\${CLAUDE_CODE_SESSION_ATTENDED-}" = 1 ] && [ -n "\${CLAUDE_PID-}" ] || exit 0
umask 077
mkdir -p ${quoted} 2>/dev/null && cd ${quoted} 2>/dev/null || exit 0
pipe="$CLAUDE_PID.$$"
trap 'rm -f "$pipe"' EXIT
trap 'exit 0' TERM HUP INT
rm -f "$pipe"
mkfifo "$pipe" 2>/dev/null || exit 0
# open for both ways: neither side ever waits for the other, and what is written to a waiter that is gone is gone with it
exec 3<>"$pipe"
for old in "$CLAUDE_PID".*; do
  if [ -p "$old" ] && [ "$pipe" -nt "$old" ]; then
    printf 'home\\n' 1<>"$old"
    rm -f "$old"
  fi
done
while :; do
  if read -r -t ${every} word <&3; then break; fi
  [ "$(ps -o ppid= -p $$ 2>/dev/null)" -eq "$PPID" ] 2>/dev/null || exit 0
done
case $word in
  say-*) [ -s "$word" ] || exit 0 ;;
  *) exit 0 ;;
esac
cat "$word" >&2
rm -f "$word"
exit 2
`
}
