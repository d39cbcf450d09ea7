#!/bin/bash -p
# The program an agent runs for each of its events: `hook <event>`, `hook status-line <key>`, `hook
# waiter`.
#
# Bash starts in a millisecond and can talk to a server over /dev/tcp without starting another
# program. The launcher prints only what the client should read and always exits with 0.
#
# With a server, the signal is sent to it and its answer is printed. Without one, the signal is
# written to the spool, an engine is started in the background if none runs, and the answer that an
# earlier engine left in the outbox is printed; so a warning reaches the agent with the second tool
# batch at the latest. Only the status line waits for the engine, to show the current figure.
#
# A tool batch that the plugin module has reported, far below every level, needs neither: the
# launcher ends before it reads its input.
#
# The common path forks nothing: for small inputs `read` is cheaper than `cat`.
#
# launcher.ts fills in the placeholders between @ at install time and removes the comments, because
# bash reads them again at every run. Doctor parses the first line by its form.
home=@HOME@ config=@CONFIG@ log=@LOG@ node=@NODE@ engine=@ENGINE@ agent=@AGENT@ unread=@UNREAD@ behind=@BEHIND@
kind=$1 key=$2
exec 2>/dev/null
set +o posix
user_locale=${BATON_LC-$LC_ALL}
LC_ALL=C
former='' unusable=''
# Succeeds for a link that another user made or can replace, by the rule of lib/home-safety.ts.
is_foreign_link() {
  local mode around=${1%/*} uid
  read -r mode _ uid _ < <(exec ls -nd "$1")
  [ "$uid" = 0 ] || [ "$uid" = "$EUID" ] || return 0
  read -r mode _ < <(exec ls -nd "${around:-/}/.")
  case $mode in ????????w[!tT]*) ;; *) return 1 ;; esac
}
case $BATON_HOME in
  /*)
    # SQLite opens no path of more than 512 bytes, and bash is slow with long ones.
    [ ${#BATON_HOME} -le 400 ] || unusable=1
    # Node would read bytes that are not UTF-8 as another path.
    case $BATON_HOME in *[!\ -~]*)
      LC_ALL=C.UTF-8
      [[ $BATON_HOME =~ ^.*$ ]] || unusable=1
      LC_ALL=C ;;
    esac
    # Hooks run by root would create folders in the root of the file system. -ef resolves links.
    [ "$BATON_HOME" -ef / ] && unusable=1
    # A folder or link of another user may lead to files of this one, such as a cloned repository,
    # whose owner then proves nothing.
    [ -O "$BATON_HOME" ] || [ ! -e "$BATON_HOME" ] || unusable=1
    part=$BATON_HOME
    while [ -n "$part" ] && [ -z "$unusable" ]; do
      case $part in
        */ | */.) ;;
        *) [ -L "$part" ] && is_foreign_link "$part" && unusable=1 ;;
      esac
      part=${part%/*}
    done
    [ -n "$unusable" ] || home=$BATON_HOME ;;
esac
if [ "$kind" = status-line ]; then
  # A link may lead to a file of this user that another one wrote, as in a cloned repository.
  if [ -n "$key" ] && [ -f "$home/former/$key" ] && [ -O "$home/former/$key" ] &&
    [ ! -L "$home/former/$key" ] && [ -O "$home/former" ] && [ ! -L "$home/former" ]; then
    IFS= read -r -d '' former <"$home/former/$key"
  fi
  [ -z "$BATON_IN_STATUS_LINE" ] || exit 0
fi
if [ "$BATON_DISABLE" = 1 ] || [ -n "$unusable" ]; then
  LC_ALL=$user_locale
  [ -n "$user_locale" ] || unset LC_ALL
  unset BATON_LC
  [ -n "$former" ] && BATON_IN_STATUS_LINE=1 exec /bin/sh -c "$former"
  exit 0
fi

bash_version=${BASH_VERSINFO[0]}
# The server or an engine has written to this file below which figure no message waits for the
# session, until when that holds, and where the next level is. The plugin module reports each
# batch's figure before its hook runs. Below the limit the hook has nothing to do: whoever needs the
# figure reads the report. The client accepts that its input stays unread.
reached=''
if [ "$kind" = "$unread" ] && [ "$bash_version" -gt 4 ]; then
  outbox=$home/outbox/$CLAUDE_CODE_SESSION_ID live=$home/live/$CLAUDE_CODE_SESSION_ID.json
  # A report counts for one batch, so that a module that no longer runs stops no signal. The second
  # file's time is that of the last batch that ended here.
  if [[ $live -nt $outbox.batch && -f $outbox.far && $CLAUDE_CODE_SESSION_ID != *[!A-Za-z0-9_-]* &&
    -O $home && -O $home/outbox && ! -L $home/outbox && -O $outbox.far && ! -L $outbox.far &&
    -f $live && -O $live && ! -L $live && ! -L $outbox.batch ]] &&
    [[ ! -e $outbox.batch || ( -f $outbox.batch && -O $outbox.batch ) ]] &&
    read -r limit until level <"$outbox.far"; then
    read -r report <"$live"
    figure=${report#*'"tokens":'}
    figure=${figure%%,*}
    case $figure in '' | *[!0-9]* | ??????????*) ;; *)
      if [ "$figure" -ge "$limit" ]; then
        [ "$figure" -ge "$level" ] && reached=1
      elif [ "$EPOCHSECONDS" -lt "$until" ]; then
        umask 077
        : >"$outbox.batch" && exit 0
      fi ;;
    esac
  fi
fi

crlf=$'\r\n'
names=@NAMES@ values=@VALUES@ headers=@HEADERS@
# Multiplies every time limit, see lib/patience.ts.
patience=1
case $BATON_PATIENCE in [1-9] | [1-9][0-9]) patience=$BATON_PATIENCE ;; esac
# Neither a server that closes the connection nor a full disk may end this program.
trap '' PIPE XFSZ
now=$EPOCHSECONDS
[ -n "$now" ] || now=$(date +%s)

# Connect before reading stdin, so that the server accepts meanwhile. Only a file of this user says
# where the server is.
connected=''
if [ "$kind" != waiter ] && [ -f "$home/run/server" ] && [ -O "$home/run/server" ] && [ ! -L "$home/run" ] &&
  read -r port token pid hello proof <"$home/run/server" && [ -n "$proof" ]; then
  # The server keeps a byte in this pipe, which the kernel drops when the server ends. Without it,
  # another user's program may listen on the port by now, and even connecting to that could take
  # minutes. Bash 3 cannot look into a pipe without reading from it.
  alive=
  if [ "$bash_version" -gt 3 ]; then
    if [ -p "$home/run/alive" ] && [ -O "$home/run/alive" ] && exec 4<>"$home/run/alive"; then
      read -r -t 0 -u 4 && alive=1
      exec 4<&-
    fi
  else
    kill -0 "$pid" && alive=1
  fi
  avoided_until=0 lease=$now
  [ -f "$home/run/slow" ] && read -r avoided_until <"$home/run/slow"
  # A server that is stopped or flooded by connections does not renew its lease. Connecting to it
  # could take minutes too, and bash has no timeout for that.
  [ -f "$home/run/lease" ] && read -r lease <"$home/run/lease"
  if [ -n "$alive" ] && [ "$now" -ge "${avoided_until:-0}" ] && [ "$now" -le "${lease:-0}" ] &&
    exec 3<>"/dev/tcp/127.0.0.1/$port"; then
    connected=1
    printf 'BATON %s\r\n' "$hello" >&3
  fi
fi

body='' answer='' large=''
if [ "$kind" = waiter ]; then
  :
elif [ "$bash_version" -lt 4 ]; then
  body=$(cat)
elif [ "$kind" = "$unread" ]; then
  # Read only the beginning of a tool batch. The rest is tool results, and Claude Code 2.1.325
  # accepts that they stay unread. Most batches are shorter, and all of their calls are counted.
  IFS= read -r -t "$patience" -N 2048 body
  [ ${#body} -eq 2048 ] && case $body in *"$behind"*) ;; *) large=1 ;; esac
else
  IFS= read -r -t "$patience" -N 3072 body
  [ ${#body} -eq 3072 ] && large=1
fi
session=${body:0:600}
case $session in
  *'"session_id":"'*) session=${session#*'"session_id":"'} session=${session%%\"*} ;;
  *)
    if [[ $session =~ \"session_id\"[[:space:]]*:[[:space:]]*\"([^\"]+)\" ]]; then
      session=${BASH_REMATCH[1]}
    else
      session=$CLAUDE_CODE_SESSION_ID
    fi ;;
esac
case $session in *[!A-Za-z0-9_-]*) session=${session//[^A-Za-z0-9_-]/} ;; esac
[ -n "$session" ] || session=unknown
# Names of files are at most 255 bytes long.
[ ${#session} -gt 120 ] && session=${session:0:100}${session: -20}
name=$kind answer_limit=$patience
if [ "$kind" = SessionStart ]; then
  case $body in
    *'"source":"compact"'*) name=$kind-compact ;;
    *'"source":"clear"'*) name=$kind-clear ;;
  esac
fi
# Wait longer for these rare events, during which the client itself takes many seconds.
case $name in PreCompact | Stop | SessionStart-compact | SessionStart-clear) answer_limit=$((4 * patience)) ;; esac
id=$session.${EPOCHREALTIME:-$now.$RANDOM}.$$.$name

# Closes the connection and marks the server as slow, so that hooks skip it for a minute.
avoid_server() {
  connected=
  exec 3>&-
  [ -L "$home/run/slow" ] || { [ -e "$home/run/slow" ] && [ ! -f "$home/run/slow" ]; } ||
    printf '%s\n' "$((now + 60))" >"$home/run/slow"
}
# Checks the listener's proof. No conversation text is sent to a program that does not know it.
if [ -n "$connected" ]; then
  given_proof=
  if [ "$bash_version" -gt 3 ]; then
    IFS= read -r -t "$patience" -N 18 -u 3 given_proof
  else
    IFS= read -r -t "$patience" -n 40 -u 3 given_proof && given_proof=$given_proof$'\n'
  fi
  [ "$given_proof" = "$proof$crlf" ] || avoid_server
fi

plain=1
case $values in *[[:cntrl:]]*) plain= ;; esac
# Sends the request in one write: a head that arrives in pieces costs the server more than the
# signal.
send_request() {
  local text=$body$'\n'
  if [ -n "$plain" ]; then vars=$headers; else list_variables X-Env- ': ' "$crlf"; fi
  [ "${token:--}" = - ] || vars=${vars}Authorization:\ Bearer\ $token$crlf
  if [ -n "$large" ]; then
    vars=${vars}X-Baton-Spooled:\ 1$crlf
    text=
  fi
  # Bash writes its first output line by line, all later output at once.
  printf ' ' >&2
  vars="Connection: close${crlf}Content-Type: application/json${crlf}X-Baton-Signal: $id$crlf${vars}"
  vars="POST /signals/$agent/$kind HTTP/1.1${crlf}Host: 127.0.0.1:$port$crlf${vars}Content-Length: ${#text}"
  printf %s "$vars$crlf$crlf$text" >&3
}
# Sets `answer`. Fails when the server did not answer in time, or with an error.
read_answer() {
  local response=
  if [ "$bash_version" -gt 3 ]; then
    IFS= read -r -t "$answer_limit" -N 65535 -u 3 response
  else
    IFS= read -r -d '' -t "$answer_limit" -u 3 response
  fi
  case $response in
    'HTTP/1.1 '*$'\r\nX-Baton: 1\r\n'*) ;;
    *)
      avoid_server
      return 1 ;;
  esac
  case $response in
    'HTTP/1.1 200'*) answer=${response#*$'\r\n\r\n'} ;;
    'HTTP/1.1 400'*) ;;
    *) return 1 ;;
  esac
}
# The common path ends here, so that bash does not parse the rest.
if [ -n "$connected" ] && [ -n "$plain" ] && [ -z "$large$former" ]; then
  if send_request && read_answer; then
    [ -n "$answer" ] && printf '%s\n' "$answer"
    exit 0
  fi
  connected=
fi

# The waiter blocks beside an idle session until there is a message for it, see waiter.ts. It is
# defined here because bash parses a program only as far as it runs, and most runs end above.
if [ "$kind" = waiter ]; then
  exec </dev/null
  trap - PIPE XFSZ
  [ "$CLAUDE_CODE_SESSION_ATTENDED" = 1 ] || exit 0
  [[ $CLAUDE_PID =~ ^[0-9]+$ && $CLAUDE_CODE_SESSION_ID =~ ^[A-Za-z0-9_-]+$ ]] || exit 0
  umask 077
  [ -e "$home" ] && ! [ -O "$home" ] && exit 0
  mkdir -p "$home/waiters" || exit 0
  [ -O "$home" ] && [ -O "$home/waiters" ] && [ ! -L "$home/waiters" ] || exit 0
  cd "$home/waiters" || exit 0
  pipe=$CLAUDE_PID.$$
  trap 'exit 0' TERM HUP INT
  trap 'rm -f "$pipe" ".$pipe"' EXIT
  rm -f "$pipe" ".$pipe"
  # Opened for reading and writing, so that neither end waits for the other. The pipe gets its final
  # name only then: a pipe of that name without a reader counts as left behind.
  mkfifo ".$pipe" || exit 0
  exec 3<>".$pipe" && mv ".$pipe" "$pipe" && [ -p "$pipe" ] || exit 0
  : >"$CLAUDE_PID.here"
  # End only older waiters of this client: of two that start at once, one must stay.
  for old in "$CLAUDE_PID".*; do
    if [ -p "$old" ] && [ "$pipe" -nt "$old" ]; then
      printf 'home\n' 1<>"$old"
      rm -f "$old"
    fi
  done
  while :; do
    for message in "$CLAUDE_CODE_SESSION_ID".*.say; do
      # Only one waiter succeeds in renaming the message.
      if [ -f "$message" ] && [ -O "$message" ] && [ ! -L "$message" ] && mv "$message" "${message%.say}.said"; then
        cat "${message%.say}.said"
        : >"${message%.say}.said"
        exit 2
      fi
    done
    since=$SECONDS
    until read -r -t 300 order <&3; do
      [ $SECONDS -gt "$since" ] && [ "$(ps -o ppid= -p $$)" -eq "$PPID" ] || exit 0
      since=$SECONDS
    done
    [ "$order" = look ] || exit 0
  done
fi

body_start=${body:0:3072}
read_rest() { if command -v timeout >/dev/null; then timeout $((2 * patience)) cat; else cat; fi; }
if [ -n "$large" ] && [ -n "$former" ]; then
  large=
  body=$body$(read_rest)
fi

# Sets `vars` to the variables of the client's environment that an adapter needs, each written as
# "$1", name, "$2", value, "$3", without control characters.
list_variables() {
  local name value
  vars=
  for name in $names; do
    value=${!name}
    [ -n "$value" ] || continue
    case $value in *[[:cntrl:]]*) value=${value//[[:cntrl:]]/ } ;; esac
    vars=$vars$1$name$2$value$3
  done
}
# Writes the signal to the spool; of a large payload the rest goes there straight from stdin.
# Returns 1 when the signal could not be written, 2 when the home cannot be used.
spool_signal() {
  umask 077
  [ -e "$home" ] && ! [ -O "$home" ] && return 2
  [ -d "$home/spool" ] && [ -d "$home/run" ] || mkdir -p "$home/spool" "$home/run" || return 2
  # In folders of another user, that user could read the conversation and forge answers to the
  # agent.
  [ -O "$home" ] && [ -O "$home/run" ] && [ -O "$home/spool" ] && [ ! -L "$home/spool" ] || return 2
  case ${body_start%%'"tool_calls"'*} in *'"agent_id":"'*) is_subagent=1 ;; *) is_subagent= ;; esac
  local request=''
  awaited=
  # Checked before the .near file: an engine that takes the request writes .near before it removes
  # the request.
  [ "$kind" = Stop ] && [ -e "$home/live/$session.request.json" ] && request=$kind
  [ "$kind" = UserPromptSubmit ] && case $body_start in *'"prompt":"[baton] /handoff '*) request=$kind ;; esac
  local near=$home/outbox/$session.near
  [ -z "$is_subagent" ] && [ -f "$near" ] && [ -O "$near" ] && read -r awaited <"$near"
  # The plugin module's figure has reached the next level, so the engine has a message to give.
  [ -n "$reached" ] && [ -z "$is_subagent" ] && request=$kind
  awaited="$awaited $request"
  # Other engines skip a signal with this suffix, because they could not answer this hook.
  case "$id $awaited " in *-now\ *) ;; *" $kind "*) id=$id-now ;; esac
  local spooled=("$home/spool/"*)
  # So many signals mean that the store has been broken for long, which doctor reports.
  [ ${#spooled[@]} -lt 5000 ] || exit 0
  list_variables '' = $'\n'
  if [ -z "$large" ] || [ "$bash_version" -lt 5 ]; then
    {
      printf '%s\n%s\n%s\n%s\n\n%s' "$agent" "$kind" "$now" "$vars" "$body"
      [ -n "$large" ] && read_rest
      printf '\n#end\n'
    } >"$home/spool/$id"
    return
  fi
  printf '%s\n%s\n%s\n%s\n\n%s' "$agent" "$kind" "$now" "$vars" "$body" >"$home/spool/$id" || return 1
  # Run one program instead of `timeout cat`: cat holds the other end of the pipe that is read here,
  # for two seconds at most.
  exec 5< <(exec 6>&1 >>"$home/spool/$id" 3>&-; exec cat)
  read -r -t $((2 * patience)) -u 5
  [ $? -le 128 ] || kill $!
  exec 5<&-
  printf '\n#end\n' >>"$home/spool/$id"
}
if [ -n "$large" ]; then
  spool_signal
  case $? in
    0) ;;
    2) exit 0 ;;
    *)
      large=
      body=$body$(read_rest) ;;
  esac
fi
# Removes the spooled signal when the package is gone, because no engine will ever process it.
drop_without_engine() {
  [ -z "$large" ] || [ -f "$engine" ] || rm -f "$home/spool/$id"
}
# Sets the engine's environment: its folders, and nothing that slows Node's start.
export_for_engine() {
  export BATON_DATA=$home BATON_CONFIG=$config BATON_LOG_FILE=$log NODE_EXTRA_CA_CERTS='' NODE_OPTIONS=''
}
# Runs the status line that the user had before Baton, in the user's locale.
run_former() {
  trap - PIPE XFSZ
  LC_ALL=$user_locale
  [ -n "$user_locale" ] || unset LC_ALL
  unset BATON_LC
  BATON_IN_STATUS_LINE=1 exec /bin/sh -c "$former" <<<"$body" 3>&-
}

if [ "$kind" = status-line ]; then
  own='' is_sent=''
  [ -n "$connected" ] && send_request && is_sent=1
  if [ -n "$former" ]; then own=$(run_former) || own=; fi
  if [ -n "$is_sent" ] && read_answer; then :; else
    answer=
    exec 3>&-
    [ -x "$node" ] || node=$(command -v node)
    if [ -n "$node" ] && [ -f "$engine" ]; then
      export_for_engine
      export BATON_SIGNAL=$id BATON_SPOOLED=$large
      # Without exec: a Node that cannot start must not decide the exit code.
      if [ -z "$former" ]; then
        "$node" "$engine" status-line <<<"$body"
        exit 0
      fi
      answer=$(exec "$node" "$engine" status-line <<<"$body")
    fi
    drop_without_engine
  fi
  if [ -n "$own" ] && [ -n "$answer" ]; then
    between='\n'
    # On one line if that fits the terminal; colours take no cells.
    case $own in *$'\n'*) ;; *)
      LC_ALL=C.UTF-8
      shopt -s extglob
      cells=$own$answer
      cells=${cells//$'\e['*([0-9;])m/}
      [ ${#cells} -lt $((${COLUMNS:-120} - 4)) ] && between='  ' ;;
    esac
    printf "%s$between%s\n" "$own" "$answer"
  elif [ -n "$own$answer" ]; then
    printf '%s\n' "$own$answer"
  fi
  exit 0
fi

if [ -n "$connected" ] && send_request && read_answer; then
  [ -n "$answer" ] && printf '%s\n' "$answer"
  exit 0
fi
exec 3>&-

drop_without_engine
[ -f "$engine" ] || exit 0
[ -n "$large" ] || spool_signal || [ $? -eq 1 ] || exit 0
umask 077

# Becomes the engine, unless one runs already, which then processes the whole spool.
become_engine() {
  local lock=$home/run/drain pid until
  for _ in 1 2; do
    # Bash would open a pipe in place of the lock and wait for its reader without end.
    [ ! -e "$lock" ] || [ -f "$lock" ] || rm -f "$lock"
    set -C
    if printf '%s %s\n' "${BASHPID:-$$}" "$((now + 35))" >"$lock"; then
      set +C
      [ -x "$node" ] || node=$(command -v node) || exit 0
      # After a tool batch the client prepares its next request, which takes some 20 ms of processor
      # time. Node's start would compete with it. Nobody writes to this pipe.
      if [ "$kind" = "$unread" ] && [ -p "$home/run/tick" ] && [ "$bash_version" -gt 3 ]; then
        exec 9<>"$home/run/tick"
        read -r -t 0.02 -u 9
        exec 9>&-
      fi
      export_for_engine
      exec "$node" "$engine" drain
    fi
    set +C
    read -r pid until <"$lock"
    [ -n "$pid" ] && [ "$now" -le "${until:-0}" ] && kill -0 "$pid" && exit 0
    rm -f "$lock"
  done
}
start_engine() {
  set -m
  (trap '' HUP; become_engine) </dev/null >/dev/null 2>&1 3>&- &
  set +m
}
leaves_work=
# Wait for the engine: an answer around a compaction or to a fresh session cannot be given later.
case $name in
  PreCompact) awaited=$kind leaves_work=1 ;;
  SessionStart-compact | SessionStart-clear) awaited=$kind ;;
esac
case " $awaited " in *" $kind "*) awaited=$kind ;; *) awaited= ;; esac
# A level is near, a brief is due, or a compaction happens: wait for the answer to this event.
if [ -n "$awaited" ]; then
  [ -x "$node" ] || node=$(command -v node) || exit 0
  answer=$(export_for_engine; exec "$node" "$engine" answer "$id" </dev/null)
  # A separate process writes archives, because no hook may wait for them.
  [ -n "$leaves_work" ] && start_engine
  if [ -n "$answer" ]; then
    printf '%s\n' "$answer"
    exit 0
  fi
else
  start_engine
fi

[ -z "$is_subagent" ] || exit 0
# Waits for an engine that still works on earlier signals of this session, at most 0.8 s with bash
# 4.
tries=0
while [ $tries -lt $((160 * patience)) ]; do
  has_earlier=
  for file in "$home/spool/$session."*; do
    [ "$file" = "$home/spool/$id" ] && break
    seconds=${file#"$home/spool/$session."}
    [ -e "$file" ] && [ $((now - ${seconds%%.*})) -le $((3 * patience)) ] && has_earlier=1 && break
  done
  [ -n "$has_earlier" ] || break
  if [ -p "$home/run/tick" ] && [ "$bash_version" -gt 3 ]; then
    [ $tries -eq 0 ] && exec 9<>"$home/run/tick"
    read -r -t 0.005 -u 9
  else
    sleep 0.01
  fi
  tries=$((tries + 1))
done

out=$home/outbox/$session
# Follow no links, for the same reason as with a former status line.
if [ -f "$out/$kind" ] && [ -O "$out/$kind" ] && [ ! -L "$out/$kind" ] && [ -O "$out" ] && [ ! -L "$out" ] &&
  [ -O "$home/outbox" ] && [ ! -L "$home/outbox" ] && mv "$out" "$out.taken.$$"; then
  IFS= read -r -d '' answer <"$out.taken.$$/$kind"
  printf '%s\n' "$answer"
  : >"$out.taken.$$/given.$kind"
fi
exit 0
