/** What a rule for a program permits that its author may not mean. */
export interface WideProgram {
  /** The object of a sentence: `any command`. */
  permits: string
  /** A narrower rule; without a full stop. */
  instead: string
}

/** Says what a command with anything behind these words may do, where that is nearly anything. */
export function findWideProgram(name: string, words: readonly string[]): WideProgram | undefined {
  const first = words.find((word) => !word.startsWith('-')) ?? ''
  const row = ROWS.find(({ names, isWide }) => names.test(name) && isWide.test(first))
  return row && { permits: row.permits, instead: row.instead.replaceAll('NAME', name) }
}

interface Row extends WideProgram {
  names: RegExp
  /** The first word that is not an option; empty when there is none. */
  isWide: RegExp
}

const ANY = 'any command'
const ONE_LINE = 'write the whole line'

/** The first that fits counts. */
const ROWS: readonly Row[] = [
  {
    names:
      /^(node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy3?|perl|ruby|php|lua|Rscript|osascript|julia)$/,
    isWide: /^[^./]*$/,
    permits: ANY,
    instead: 'name the script, as in bash(NAME scripts/build *)',
  },
  {
    names: /^(g?awk|mawk|sed|gdb|expect|sqlite3|vi|vim|nvim|emacs|ed|ex|less|more|man|ftp|screen|tmux)$/,
    isWide: /(?:)/,
    permits: `${ANY} (by its own commands)`,
    instead: ONE_LINE,
  },
  {
    names: /^git$/,
    isWide: /^(config|submodule|bisect|filter-branch|difftool|mergetool|hook|worktree|)$/,
    permits: `${ANY} (by aliases, hooks and -c)`,
    instead: 'name what it does, as in bash(git commit *)',
  },
  {
    names: /^git$/,
    isWide: /^(diff|log|show|stash|format-patch|diff-tree|blame|grep)$/,
    permits:
      'writing any file with --output, and reading any with --no-index, or a pager that runs a command',
    instead: 'reading forms of git need no rule',
  },
  {
    names: /^git$/,
    isWide: /^(push|fetch|pull|clone|ls-remote|archive|rebase)$/,
    permits: `${ANY} (by --receive-pack, --upload-pack or --exec)`,
    instead: ONE_LINE,
  },
  {
    names: /^(npm|pnpm|yarn)$/,
    isWide: /^(exec|x|dlx|explore|config|install|i|add|ci|create|init|)$/,
    permits: `${ANY} (by exec and by the scripts of packages)`,
    instead: 'name a script, as in bash(NAME test *)',
  },
  {
    names: /^(pip[\d.]*|uv|poetry|pipx|gem|bundle|composer|brew|apt|apt-get|dnf|yum|pacman)$/,
    isWide: /(?:)/,
    permits: 'installing, and so running, any package',
    instead: ONE_LINE,
  },
  {
    names: /^(make|gmake|just|ninja)$/,
    isWide: /(?:)/,
    permits: `${ANY} (by variables and other makefiles)`,
    instead: 'name the target without a *, as in bash(NAME test)',
  },
  {
    names: /^(go|cargo|gradle|gradlew|mvn|dotnet|bazel)$/,
    isWide: /^(run|test|build|vet|generate|install|exec|)$/,
    permits: 'any program (by its options)',
    instead: 'name it without a *, as in bash(NAME test)',
  },
  {
    names: /^(docker|podman|nerdctl|kubectl|oc|helm|vagrant)$/,
    isWide: /^(run|exec|compose|build|apply|create|cp|debug|ssh|)$/,
    permits: `${ANY} in a container, with any folder in it`,
    instead: 'name what it does, as in bash(NAME ps *)',
  },
  {
    names: /^(curl|wget|nc|ncat|socat|scp|sftp|rsync|rclone|aws|gcloud|az)$/,
    isWide: /(?:)/,
    permits: 'sending any file anywhere, and overwriting files',
    instead: ONE_LINE,
  },
  {
    names: /^(crabtalk|crabup)$/,
    isWide: /(?:)/,
    permits: `${ANY} (by an agent with other rules)`,
    instead: ONE_LINE,
  },
  {
    names: /^g?find$|^fd(find)?$/,
    isWide: /(?:)/,
    permits: 'deleting and overwriting files (by -delete and -fprint)',
    instead: 'searching needs no rule',
  },
  {
    names: /^(gh|glab)$/,
    isWide: /^(api|alias|extension|auth|)$/,
    permits: 'whatever your account may do',
    instead: 'name what it does, as in bash(NAME pr view *)',
  },
]
