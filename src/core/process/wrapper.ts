/**
 * What a shell runs in place of a program (docs/decisions/0070-process-groups.md): it starts the watcher as nobody's
 * child, lets go of the control pipe, and becomes the program. Descriptor 3 is the control pipe, on which it tells the
 * watcher's pid first. The watcher, and all that it runs, ignores what a program may send to its own group.
 *
 * Arguments: the shell, the watcher's script, the mark, then the program and its arguments. It sets no variable: one of
 * that name would change in the program's environment.
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

/** What a shell adds to the environment by itself. */
export const ADDED_BY_SHELLS: readonly string[] = ['PWD', 'OLDPWD', 'SHLVL', '_']

/**
 * The watcher: waits in the program's group until its standard input ends, for whatever reason, and then ends all that
 * runs because of the program: TERM, once each; two seconds later KILL; itself last. Its arguments are the group, which
 * is the session too, and the mark as it stands in an environment.
 *
 * Where the list does not even show the watcher itself, it signals its group and waits. On the control pipe it says when
 * it has seen that nobody else is left.
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

/** Lists, on Linux, the processes of the session, and those that left it but bear the mark. */
export const LIST_BY_PROC = `  LC_ALL=C grep -lsE -e "$mark" -e "^[0-9]+ \\(.*\\) [^ZX] [0-9]+ [0-9]+ $group " [0-9]*/stat [0-9]*/environ`

/** Lists the processes of the group, wherever there is a ps. */
export const LIST_BY_PS = `  ps -A -o pgid= -o stat= -o pid= | while read -r pgid stat pid; do
    case "$pgid $stat" in "$group Z"*) ;; "$group "*) echo "$pid" ;; esac
  done`
