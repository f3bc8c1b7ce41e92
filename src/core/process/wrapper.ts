/**
 * Returns the script that a shell runs in place of a program (ADR 0070). It starts the watcher as an orphan,
 * closes the control pipe, and becomes the program. Descriptor 3 is the control pipe; the first thing written
 * to it is the watcher's pid. The watcher, and everything it runs, ignores the signals that a program may
 * send to its own group.
 *
 * Arguments: the shell, the watcher's script, the owner tag, then the program and its arguments. The script
 * does not set variables: one with the same name would change in the program's environment.
 */
export function wrapperScript(options: { unset: readonly string[]; mergesErrors: boolean }): string {
  const { unset, mergesErrors } = options
  return [
    ...(mergesErrors ? ['exec 2>&1'] : []),
    '(trap "" HUP INT QUIT TERM PIPE',
    'exec "$1" -c "$2" crabtalk-watch $$ "$3" <&3 >/dev/null 2>&1 3>&- & echo $! >&3) || exit 126',
    'exec 3>&-',
    ...(unset.length > 0 ? [`unset ${unset.join(' ')}`] : []),
    'shift 3',
    'exec "$@"',
  ].join('\n')
}

/** The variables that a shell adds to the environment by itself. */
export const ADDED_BY_SHELLS: readonly string[] = ['PWD', 'OLDPWD', 'SHLVL', '_']

/**
 * Returns the watcher's script. The watcher waits in the program's group until its standard input closes, for
 * any reason, and then ends all processes of the program: TERM, once each; KILL two seconds later; itself
 * last. Its arguments are the group, which is also the session, and the owner tag as it appears in an
 * environment.
 *
 * If the list does not even show the watcher itself, it signals its group and waits. It writes to the control
 * pipe when it has seen that no other process is left.
 */
export function watcherScript(list: string): string {
  return `
cd /proc || cd /
group=$1 mark=$2 told=' ' PATH=/usr/bin:/bin:$PATH
list() {
${list}
}
signal() {
  works='' left=''
  for pid in $(list); do
    pid=\${pid%/*} how=$1
    [ "$pid" != $$ ] || { works=1; continue; }
    [ "$how" = KILL ] || case $told in *" $pid "*) how=0 ;; *) told="$told$pid " ;; esac
    kill -s "$how" "$pid" && left=1
  done
}
end() {
  signal "$1"
  for nap in $2; do
    [ "$left" ] || break
    sleep "$nap" || { sleep 2; break; }
    signal "$1"
  done
}
read -r word
end TERM '0.02 0.05 0.1 0.1 0.2 0.5 0.5 0.5'
[ "$works" ] || { kill -s TERM 0; sleep 2; }
[ -z "$left" ] || end KILL '0.02 0.05 0.1 0.2'
[ -z "$works" ] || [ "$left" ] || echo done >&0
kill -s KILL 0
`.trim()
}

/** Lists, on Linux, the processes of the session, and those that left it but have the owner tag. */
export const LIST_BY_PROC = `  LC_ALL=C grep -lsE -e "$mark" -e "^[0-9]+ \\(.*\\) [^ZX] [0-9]+ [0-9]+ $group " [0-9]*/stat [0-9]*/environ`

/** Lists the processes of the group, on any system with ps. */
export const LIST_BY_PS = `  ps -A -o pgid= -o stat= -o pid= | while read -r pgid stat pid; do
    case "$pgid $stat" in "$group Z"*) ;; "$group "*) echo "$pid" ;; esac
  done`
