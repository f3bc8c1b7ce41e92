/**
 * What `/bin/sh -c` runs in place of a program (docs/decisions/0070-process-groups.md): it starts the watcher as nobody's
 * child, lets go of the control pipe, and becomes the program. Descriptor 3 is the control pipe, on which it tells the
 * watcher's pid first.
 *
 * Arguments: the shell, the watcher's script, the mark, then the program and its arguments. It sets no variable: one of
 * that name would change in the program's environment.
 */
export function wrapperScript({ unset, mergesErrors }: { unset: readonly string[]; mergesErrors: boolean }) {
  return [
    ...(mergesErrors ? ['exec 2>&1'] : []),
    '(exec "$1" -c "$2" crabtalk-watch $$ "$3" <&3 >/dev/null 2>&1 3>&- & echo $! >&3) || exit 126',
    'exec 3>&-',
    ...(unset.length > 0 ? [`unset ${unset.join(' ')}`] : []),
    'shift 3',
    'exec "$@"',
  ].join('\n')
}

/** What a shell adds to the environment by itself. */
export const ADDED_BY_SHELLS: readonly string[] = ['PWD', 'OLDPWD', 'SHLVL', '_']

/**
 * The watcher: waits in the program's group until its standard input ends, for whatever reason, and then ends all that
 * runs because of the program: TERM, two seconds later KILL, itself last. Its arguments are the group, which is the
 * session too, and the mark as it stands in an environment.
 *
 * It looks for processes in /proc, else with ps. Where that does not even show itself, it signals its group and waits.
 * It ignores the signals that a program may send to its own group, as do the programs it runs.
 */
export const WATCHER = `
trap '' HUP INT QUIT TERM PIPE
cd /proc || cd /
group=$1 mark=$2 PATH=/usr/bin:/bin:$PATH
list() {
  if [ -e self/stat ]; then
    LC_ALL=C grep -lsE -e "$mark" -e "^[0-9]+ \\(.*\\) [^ZX] [0-9]+ [0-9]+ $group " [0-9]*/stat [0-9]*/environ
  else
    ps -A -o pgid= -o stat= -o pid= | while read -r pgid stat pid; do
      case "$pgid $stat" in "$group Z"*) ;; "$group "*) echo "$pid" ;; esac
    done
  fi
}
signal() {
  works='' left='' seen=' '
  for pid in $(list); do
    pid=\${pid%/*}
    case $seen in *" $pid "*) continue ;; esac
    seen="$seen$pid "
    if [ "$pid" = $$ ]; then works=1; elif kill -s "$1" "$pid"; then left=1; fi
  done
}
end() {
  signal "$1"
  shift
  for nap; do
    [ "$left" ] || break
    sleep "$nap" || { sleep 2; break; }
    signal 0
  done
}
read -r word
end TERM 0.02 0.05 0.1 0.1 0.2 0.5 0.5 0.5
[ "$works" ] || { kill -s TERM 0; sleep 2; }
[ -z "$left" ] || end KILL 0.02 0.05 0.1 0.2
kill -s KILL 0
`.trim()
