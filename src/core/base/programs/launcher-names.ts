/** Shells: programs that run a command line from an argument or from their input. */
export const SHELL_PROGRAMS: ReadonlySet<string> = words(
  'sh bash dash zsh ksh mksh ash rbash yash fish csh tcsh',
)

/** Programs other than shells that pass an argument to a shell. */
export const LINE_READERS: ReadonlySet<string> = words(
  'env su runuser sg watch script parallel flock ssh entr hyperfine tmux screen capsh',
)

/** Programs that start the command given by their arguments. */
export const LAUNCHERS: ReadonlySet<string> = words(
  'command jobs env nohup nice ionice chrt taskset sudo doas su runuser pkexec xargs parallel timeout gtimeout stdbuf ' +
    'setsid setpriv setarch prlimit time unshare nsenter chroot flock watch script strace ltrace unbuffer busybox ' +
    'toybox entr caffeinate arch systemd-run systemd-inhibit fakeroot proot bwrap firejail torsocks proxychains ' +
    'xvfb-run dbus-run-session direnv ssh npx bunx pnpx uvx sg gosu chronic choom uclampset numactl hyperfine run0 ' +
    'at batch tmux screen capsh start-stop-daemon linux32 linux64 i386 i486 i586 i686 athlon x86_64 uname26 ppc ' +
    'ppc32 ppc64 s390 s390x sparc sparc32 sparc64 aarch64 arm armh armv7b armv7l armv8l claude codex opencode gemini ' +
    'aider goose',
)

/**
 * Programs that start a command only after certain subcommands: the arguments after the subcommand are that
 * command. The patterns match arguments separated by NULs.
 */
export const SUB_LAUNCHERS: ReadonlyMap<string, RegExp> = new Map([
  ['git', behindOptions('(bisect\0run|submodule\0([^\0]*\0)*?foreach)\0')],
  ...[...words('npm pnpm yarn bun')].map((name): [string, RegExp] => [
    name,
    behindOptions('(exec|x|dlx|explore)\0'),
  ]),
])

/** Options that make a program start another one, anywhere on its command line. */
export const OPTION_LAUNCHERS: ReadonlyMap<string, RegExp> = new Map([
  ...[...words('npm pnpm yarn bun')].map((name): [string, RegExp] => [
    name,
    /^\0((?!--\0)[^\0]*\0)*?(--(script-shell|shell|prefix|dir|cwd|node-options|userconfig|globalconfig)\b|-C)/,
  ]),
  [
    'git',
    /\0(rebase\0([^\0]*\0)*?(-[a-zA-Z]*x|--ex)|difftool\0|filter-branch\0|-c\0|--config-env|--exec-path=|grep\0([^\0]*\0)*?(-O|--open))/,
  ],
  ['split', /\0--fi/],
  ...[...words('tar gtar bsdtar')].map((name): [string, RegExp] => [
    name,
    /^\0-?[A-Za-z]*[IF]|\0-[A-Za-z]*[IF]|\0--(checkpoint-a|to-c|us|rs|info-s|new-v)/,
  ]),
  ['rsync', /\0(-[A-Za-z]*e|--rs)/],
  ['sort', /\0--comp/],
  ['man', /\0(-[A-Za-z]*[PH]|--pa|--htm)/],
  ['rg', /\0--(pre|hostname-bin)\b/],
  ...[...words('crabtalk crabup')].map((name): [string, RegExp] => [
    name,
    /^\0$|\0(send|chat|attach|agent|config|mcp|cron|events|daemon|answer|token|skill|memory|start|pull|pkg)\0|\0--(yolo|allow)/,
  ]),
])

/** Programs that run commands on another machine or under another agent's rules. */
export const REMOTE_LAUNCHERS: ReadonlySet<string> = words('ssh claude codex opencode gemini aider goose')

/** Programs that start a command when they have an option that EXEC_OPTION matches. */
export const FINDERS: ReadonlySet<string> = words('find gfind fd fdfind')
/** The options of FINDERS that are followed by a command. */
export const EXEC_OPTION = /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/

/** Programs that append words from a pipe, or file names, to the command they start. */
export const FEEDERS: ReadonlySet<string> = words('xargs parallel find gfind fd fdfind')

/** Programs that join their arguments to one line for another shell. */
export const JOINERS: ReadonlySet<string> = words('su runuser sg watch script ssh hyperfine')

/** Programs that, without a command, start a shell which reads their input. */
export const SHELL_STARTERS: ReadonlySet<string> = words(
  'su runuser sg ssh chroot unshare nsenter script pkexec run0 setarch fakeroot proot firejail parallel capsh linux32 ' +
    'linux64 i386 i486 i586 i686 athlon x86_64 uname26 ppc ppc32 ppc64 s390 s390x sparc sparc32 sparc64 aarch64 arm',
)

/** Programs that run what they read, or send it elsewhere, whatever their arguments are. */
export const OPAQUE_LAUNCHERS: ReadonlySet<string> = words(
  'at batch tmux screen crabtalk crabup claude codex opencode gemini aider goose',
)

/**
 * The number of operands before the command. Where options take several words the number is deliberately
 * large.
 */
export const OPERAND_COUNTS: ReadonlyMap<string, number> = new Map([
  ...[...words('timeout gtimeout chroot flock taskset chrt su runuser ssh script setarch sg gosu')].map(
    (name): [string, number] => [name, 1],
  ),
  ['direnv', 2],
  ['bwrap', 99],
  ['proot', 99],
])

/** Options that take no value, for programs where this is not obvious. */
export const VALUELESS_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ['xargs', /^(-[0rtpxo]+|--null|--no-run-if-empty|--verbose|--interactive)$/],
  ['sudo', /^(-[AEHPSbikns]+|--login|--shell|--preserve-env|--set-home|--non-interactive)$/],
  ['env', /^(-[0iv]+|--null|--ignore-environment)$/],
])

/** Anchors a pattern at the start, after any options and their values. */
function behindOptions(pattern: string): RegExp {
  return new RegExp(`^\\0(?:-[^\\0]*\\0(?:[^-\\0][^\\0]*\\0)?)*${pattern}`)
}

/** Git settings, in the form of `-c`, that name a program. */
export const GIT_PROGRAM_SETTING =
  /^[^=]*(alias|command|external|textconv|program|pager|editor|hookspath|fsmonitor|helper|clean|smudge|process|driver|\.cmd|\.path|include|askpass|proxy|worktree)/i

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
