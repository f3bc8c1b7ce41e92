/** Programs that run what a line or their input says. */
export const SHELLS: ReadonlySet<string> = words('sh bash dash zsh ksh mksh ash rbash yash fish csh tcsh')

/** Those that give a word to a shell, besides shells. */
export const LINE_READERS: ReadonlySet<string> = words(
  'env su runuser sg watch script parallel flock ssh entr hyperfine tmux',
)

/** Programs that start what their words say. */
export const LAUNCHERS: ReadonlySet<string> = words(
  'command jobs env nohup nice ionice chrt taskset sudo doas su runuser pkexec xargs parallel timeout gtimeout stdbuf ' +
    'setsid setpriv setarch prlimit time unshare nsenter chroot flock watch script strace ltrace unbuffer busybox ' +
    'toybox entr caffeinate arch systemd-run systemd-inhibit fakeroot proot bwrap firejail torsocks proxychains ' +
    'xvfb-run dbus-run-session direnv ssh npx bunx pnpx uvx sg gosu chronic choom uclampset numactl hyperfine run0 ' +
    'at batch tmux',
)

/** Launchers with one of EXEC among their options. */
export const FINDERS: ReadonlySet<string> = words('find gfind fd fdfind')
export const EXEC = /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/

/** They add words from a pipe, or names of files, to the command that they start. */
export const FEEDERS: ReadonlySet<string> = words('xargs parallel find gfind fd fdfind')

/** They make one line of several words, for another shell to read. */
export const JOINERS: ReadonlySet<string> = words('su runuser sg watch script ssh hyperfine')

/** Without a command they start a shell, which reads its input. */
export const SHELL_STARTERS: ReadonlySet<string> = words(
  'su runuser sg ssh chroot unshare nsenter script pkexec run0 setarch fakeroot proot firejail parallel',
)

/** They run what they read, or what they send elsewhere, whatever their words are. */
export const UNSEEN: ReadonlySet<string> = words('at batch tmux')

/** How many words that are no options stand before the command; where options have several words, plenty. */
export const OPERANDS: ReadonlyMap<string, number> = new Map([
  ...[...words('timeout gtimeout chroot flock taskset chrt su runuser ssh script setarch sg gosu')].map(
    (name): [string, number] => [name, 1],
  ),
  ['direnv', 2],
  ['bwrap', 99],
  ['proot', 99],
])

/** Options that take no word, where that is not plain. */
export const FLAGS: ReadonlyMap<string, RegExp> = new Map([
  ['xargs', /^(-[0rtpxo]+|--null|--no-run-if-empty|--verbose|--interactive)$/],
  ['sudo', /^(-[AEHPSbikns]+|--login|--shell|--preserve-env|--set-home|--non-interactive)$/],
  ['env', /^(-[0iv]+|--null|--ignore-environment)$/],
])

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
