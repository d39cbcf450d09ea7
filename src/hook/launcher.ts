import type { Home } from '../lib/home.js'

/** What the launcher is told at install time. It changes with upgrades; the command string in the agent's settings does not. */
export interface LauncherInput {
  bash: string
  /** The places at install time; BATON_HOME in a client's environment goes before them. */
  home: Pick<Home, 'root' | 'config' | 'log'>
  node: string
  engine: string
  agent: string
  /** Names of the environment variables that travel with a signal. */
  environment: readonly string[]
  /** Of this event nothing behind these words is asked for. */
  unread: { event: string; behind: string }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * The program agents run for every event. Bash, because it starts in a millisecond and can speak to a server over /dev/tcp
 * without starting anything else. It prints only what the client should read and always exits 0.
 *
 * With a server: the signal goes there and its answer is printed. Without one: the signal is written to the spool first,
 * an engine is started beside it if none runs, and what an earlier engine left for this session is printed at once; so a
 * warning travels at the latest with the second batch. The status line alone waits for the engine, to show the present
 * figure.
 *
 * Nothing is forked on the way that is usual: `read` takes small inputs byte by byte cheaper than starting `cat`.
 */
export function launcherText(input: LauncherInput): string {
  const names = input.environment.filter((name) => /^[A-Z0-9_]+$/.test(name))
  const values = `"${names.map((name) => `$${name}`).join('')}"`
  const headers = `"${names.map((name) => `\${${name}:+X-Env-${name}: $${name}$n}`).join('')}"`
  // -p: a BASH_ENV, SHELLOPTS or exported function of the person's must not speak or act in here.
  return `#!${input.bash} -p
# Baton's launcher: run by a coding agent for its events. Written by "baton install"; do not edit.
home=${quote(input.home.root)} config=${quote(input.home.config)} log=${quote(input.home.log)} node=${quote(input.node)} engine=${quote(input.engine)} agent=${quote(input.agent)} unread=${quote(input.unread.event)} behind=${quote(input.unread.behind)}
${BODY.replace('@NAMES@', names.join(' ')).replace('@VALUES@', values).replace('@HEADERS@', headers)}`
}

const BODY = String.raw`kind=$1 key=$2
exec 2>/dev/null
set +o posix
case $BATON_HOME in /*) home=$BATON_HOME ;; esac
locale=\${BATON_LC-$LC_ALL}
LC_ALL=C
former=
if [ "$kind" = status-line ]; then
  [ -n "$key" ] && [ -f "$home/former/$key" ] && IFS= read -r -d '' former <"$home/former/$key"
  [ -z "$BATON_IN_STATUS_LINE" ] || exit 0
fi
if [ "$BATON_DISABLE" = 1 ]; then
  LC_ALL=$locale
  [ -n "$locale" ] || unset LC_ALL
  unset BATON_LC
  [ -n "$former" ] && BATON_IN_STATUS_LINE=1 exec /bin/sh -c "$former"
  exit 0
fi

if [ "$kind" = waiter ]; then # see agents/claude-code/waiter.ts
  exec </dev/null
  [ "$CLAUDE_CODE_SESSION_ATTENDED" = 1 ] && [[ $CLAUDE_PID =~ ^[0-9]+$ && $CLAUDE_CODE_SESSION_ID =~ ^[A-Za-z0-9_-]+$ ]] || exit 0
  umask 077
  mkdir -p "$home/waiters" && cd "$home/waiters" || exit 0
  pipe=$CLAUDE_PID.$$
  trap 'exit 0' TERM HUP INT
  trap 'rm -f "$pipe" ".$pipe"' EXIT
  rm -f "$pipe" ".$pipe"
  # open for both ways: neither side ever waits for the other. Under its name only then: one without a reader is taken for left behind
  mkfifo ".$pipe" && exec 3<>".$pipe" && mv ".$pipe" "$pipe" && [ -p "$pipe" ] || exit 0
  : >"$CLAUDE_PID.here"
  for old in "$CLAUDE_PID".*; do # only older ones: two that begin at once would else both be gone
    if [ -p "$old" ] && [ "$pipe" -nt "$old" ]; then
      printf 'home\n' 1<>"$old"
      rm -f "$old"
    fi
  done
  while :; do
    for word in "$CLAUDE_CODE_SESSION_ID".*.say; do
      [ -e "$word" ] && mv "$word" "\${word%.say}.said" || continue # only one can take it
      cat "\${word%.say}.said"
      : >"\${word%.say}.said"
      exit 2
    done
    since=$SECONDS
    until read -r -t 300 word <&3; do
      [ $SECONDS -gt $since ] && [ "$(ps -o ppid= -p $$)" -eq "$PPID" ] || exit 0
      since=$SECONDS
    done
    [ "$word" = look ] || exit 0
  done
fi

trap '' PIPE XFSZ # neither a server that goes away nor a full disk must end this
now=$EPOCHSECONDS
[ -n "$now" ] || now=$(date +%s)

# The connection comes first: the server takes it up while stdin is read.
connected=
if read -r port token pid <"$home/run/server" && kill -0 "$pid"; then
  until=0
  [ -e "$home/run/slow" ] && read -r until <"$home/run/slow"
  [ "$now" -ge "\${until:-0}" ] && exec 3<>"/dev/tcp/127.0.0.1/$port" && connected=1
fi

body= answer= large= most=3072
[ "$kind" = "$unread" ] && most=2048
if [ "\${BASH_VERSINFO[0]}" -gt 3 ]; then
  IFS= read -r -t 1 -N $most body
  [ \${#body} -eq $most ] && large=1
  # What follows are tool results, which nobody asks for: the client takes no offence when they stay unread.
  [ -n "$large" ] && [ "$kind" = "$unread" ] && case $body in *"$behind"*) large= ;; esac
else
  body=$(cat)
fi
sid=\${body:0:600}
case $sid in
  *'"session_id":"'*) sid=\${sid#*'"session_id":"'} sid=\${sid%%\"*} ;;
  *) if [[ $sid =~ \"session_id\"[[:space:]]*:[[:space:]]*\"([^\"]+)\" ]]; then sid=\${BASH_REMATCH[1]}; else sid=$CLAUDE_CODE_SESSION_ID; fi ;;
esac
case $sid in *[!A-Za-z0-9_-]*) sid=\${sid//[^A-Za-z0-9_-]/} ;; esac
[ -n "$sid" ] || sid=unknown
[ \${#sid} -gt 120 ] && sid=\${sid:0:100}\${sid: -20} # names of files have an end
name=$kind patience=1
[ "$kind" = SessionStart ] && case $body in *'"source":"compact"'*) name=$kind-compact ;; *'"source":"clear"'*) name=$kind-clear ;; esac
case $name in PreCompact | Stop | SessionStart-compact | SessionStart-clear) patience=4 ;; esac # rare, and the client itself takes many seconds
id=$sid.\${EPOCHREALTIME:-$now.$RANDOM}.$$.$name

plain=1
case @VALUES@ in *[[:cntrl:]]*) plain= ;; esac
ask() { # in one write: a head that comes in pieces costs the server more than the signal
  local n=$'\r\n' text=$body$'\n'
  if [ -n "$plain" ]; then vars=@HEADERS@; else variables X-Env- ': ' "$n"; fi
  [ "\${token:--}" = - ] || vars=\${vars}Authorization:\ Bearer\ $token$n
  [ -n "$large" ] && vars=\${vars}X-Baton-Spooled:\ 1$n text=
  printf ' ' >&2 # a shell's first words are written line by line, later ones at once
  printf %s "POST /signals/$agent/$kind HTTP/1.1\${n}Host: 127.0.0.1:$port\${n}Connection: close\${n}Content-Type: application/json\${n}X-Baton-Signal: $id$n\${vars}Content-Length: \${#text}$n$n$text" >&3
}
hear() { # the answer; a server that says nothing in time, or is not ours, is left alone for a minute
  local all=
  if [ "\${BASH_VERSINFO[0]}" -gt 3 ]; then IFS= read -r -t $patience -N 65535 -u 3 all; else IFS= read -r -d '' -t $patience -u 3 all; fi
  case $all in
    'HTTP/1.1 '*$'\r\nX-Baton: 1\r\n'*) ;;
    *)
      printf '%s\n' "$((now + 60))" >"$home/run/slow"
      return 1 ;;
  esac
  case $all in 'HTTP/1.1 200'*) answer=\${all#*$'\r\n\r\n'} ;; 'HTTP/1.1 400'*) ;; *) return 1 ;; esac
}
if [ -n "$connected" ] && [ -n "$plain" ] && [ -z "$large$former" ]; then # the usual way, and all a shell has to read for it
  if ask && hear; then
    [ -n "$answer" ] && printf '%s\n' "$answer"
    exit 0
  fi
  connected=
fi

begin=\${body:0:3072}
rest() { if command -v timeout >/dev/null; then timeout 2 cat; else cat; fi; }
[ -n "$large" ] && [ -n "$former" ] && large= body=$body$(rest)

variables() { # the client's environment, as far as an adapter wants it; no control characters
  local name value
  vars=
  for name in @NAMES@; do
    value=\${!name}
    [ -n "$value" ] || continue
    case $value in *[[:cntrl:]]*) value=\${value//[[:cntrl:]]/ } ;; esac
    vars=$vars$1$name$2$value$3
  done
}
keep() { # into the spool; what does not fit a variable cheaply goes there straight
  umask 077
  [ -d "$home/spool" ] || mkdir -p "$home/spool" "$home/run"
  case \${begin%%'"tool_calls"'*} in *'"agent_id":"'*) child=1 ;; *) child= ;; esac
  near= typed=
  # Looked for first: whoever takes what the person typed says so in the other file before this one is gone.
  [ "$kind" = Stop ] && [ -e "$home/live/$sid.request.json" ] && typed=$kind
  [ -z "$child" ] && read -r near <"$home/outbox/$sid.near"
  near="$near $typed"
  case "$id $near " in *-now\ *) ;; *" $kind "*) id=$id-now ;; esac # no other engine may take it: it would keep the answer
  local all=("$home/spool/"*)
  [ \${#all[@]} -lt 5000 ] || exit 0 # nobody has taken any for very long: the store is broken, and doctor says so
  variables '' = $'\n'
  if [ -z "$large" ] || [ "\${BASH_VERSINFO[0]}" -lt 5 ]; then
    {
      printf '%s\n%s\n%s\n%s\n\n%s' "$agent" "$kind" "$now" "$vars" "$body"
      [ -n "$large" ] && rest
      printf '\n#end\n'
    } >"$home/spool/$id"
    return
  fi
  printf '%s\n%s\n%s\n%s\n\n%s' "$agent" "$kind" "$now" "$vars" "$body" >"$home/spool/$id" || return 1
  # One program instead of two: cat holds the other end of the pipe that is read here, for two seconds at most.
  exec 5< <(exec 6>&1 >>"$home/spool/$id" 3>&-; exec cat)
  read -r -t 2 -u 5
  [ $? -le 128 ] || kill $!
  exec 5<&-
  printf '\n#end\n' >>"$home/spool/$id"
}
if [ -n "$large" ] && ! keep; then # nowhere to put it: then it is carried
  large=
  body=$body$(rest)
fi
forget() { # the package is gone: nobody will ever take what was kept
  [ -z "$large" ] || [ -f "$engine" ] || rm -f "$home/spool/$id"
}
places() { # for the engine: where things are, and nothing that slows Node's start
  export BATON_DATA=$home BATON_CONFIG=$config BATON_LOG_FILE=$log NODE_EXTRA_CA_CERTS= NODE_OPTIONS=
}

if [ "$kind" = status-line ]; then
  own= heard=
  [ -n "$connected" ] && ask && heard=1
  if [ -n "$former" ]; then
    own=$(trap - PIPE XFSZ; LC_ALL=$locale; [ -n "$locale" ] || unset LC_ALL; unset BATON_LC; BATON_IN_STATUS_LINE=1 exec /bin/sh -c "$former" <<<"$body" 3>&-) || own=
  fi
  if [ -n "$heard" ] && hear; then :; else
    answer=
    exec 3>&-
    [ -x "$node" ] || node=$(command -v node)
    if [ -n "$node" ] && [ -f "$engine" ]; then
      places
      export BATON_SIGNAL=$id BATON_SPOOLED=$large
      [ -n "$former" ] || exec "$node" "$engine" status-line <<<"$body"
      answer=$(exec "$node" "$engine" status-line <<<"$body")
    fi
    forget
  fi
  if [ -n "$own" ] && [ -n "$answer" ]; then
    case $own in
      *$'\n'*) printf '%s\n%s\n' "$own" "$answer" ;;
      *)
        LC_ALL=C.UTF-8
        shopt -s extglob
        cells=$own$answer
        cells=\${cells//$'\e['*([0-9;])m/}
        if [ \${#cells} -lt $((\${COLUMNS:-120} - 4)) ]; then printf '%s  %s\n' "$own" "$answer"; else printf '%s\n%s\n' "$own" "$answer"; fi ;;
    esac
  elif [ -n "$own$answer" ]; then
    printf '%s\n' "$own$answer"
  fi
  exit 0
fi

if [ -n "$connected" ] && ask && hear; then
  [ -n "$answer" ] && printf '%s\n' "$answer"
  exit 0
fi
exec 3>&-

forget
[ -f "$engine" ] || exit 0
[ -n "$large" ] || keep
umask 077

start() { # one engine at a time; it takes all that lies in the spool and ends
  local lock=$home/run/drain pid until try
  for try in 1 2; do
    set -C
    if printf '%s %s\n' "\${BASHPID:-$$}" "$((now + 35))" >"$lock"; then
      set +C
      [ -x "$node" ] || node=$(command -v node) || exit 0
      places
      exec "$node" "$engine" drain
    fi
    set +C
    read -r pid until <"$lock"
    [ -n "$pid" ] && [ "$now" -le "\${until:-0}" ] && kill -0 "$pid" && exit 0
    rm -f "$lock"
  done
}
later() {
  set -m
  (trap '' HUP; start) </dev/null >/dev/null 2>&1 3>&- &
  set +m
}
after=
case $name in # what is said around a compaction, and to a fresh session, is said now or never
  PreCompact) near=$kind after=1 ;;
  SessionStart-compact | SessionStart-clear) near=$kind ;;
esac
case " $near " in *" $kind "*) near=$kind ;; *) near= ;; esac
if [ -n "$near" ]; then # a level is near, a brief is due, or a compaction: the answer to this event is worth waiting for
  [ -x "$node" ] || node=$(command -v node) || exit 0
  answer=$(places; exec "$node" "$engine" answer "$id" </dev/null)
  [ -n "$after" ] && later # archives are written by a process nobody waits for
  if [ -n "$answer" ]; then
    printf '%s\n' "$answer"
    exit 0
  fi
else
  later
fi

[ -z "$child" ] || exit 0
tries=0
while [ $tries -lt 160 ]; do # an engine still at work on this session's earlier signals is awaited, on a busy machine for a second
  earlier=
  for file in "$home/spool/$sid."*; do
    [ "$file" = "$home/spool/$id" ] && break
    old=\${file#"$home/spool/$sid."}
    [ -e "$file" ] && [ $((now - \${old%%.*})) -le 3 ] && earlier=1 && break
  done
  [ -n "$earlier" ] || break
  if [ -p "$home/run/tick" ] && [ "\${BASH_VERSINFO[0]}" -gt 3 ]; then
    [ $tries -eq 0 ] && exec 9<>"$home/run/tick"
    read -r -t 0.005 -u 9
  else
    sleep 0.01
  fi
  tries=$((tries + 1))
done

out=$home/outbox/$sid
if [ -f "$out/$kind" ] && mv "$out" "$out.taken.$$"; then
  IFS= read -r -d '' answer <"$out.taken.$$/$kind"
  printf '%s\n' "$answer"
  : >"$out.taken.$$/given.$kind"
fi
exit 0
`.replaceAll('\\${', '${')
