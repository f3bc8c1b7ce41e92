import { INTERPRETERS } from '../base/programs/interpreter-names.ts'
import { plainName } from './inner-command.ts'

/** The effect of a rule for a program that the author of the rule may not expect. */
export interface WideProgram {
  /** The object of a sentence: `any command`. */
  permits: string
  /** Advice for a narrower rule, without a full stop. */
  instead: string
}

/**
 * Returns what a program may do with any further words after these, if that is nearly anything; otherwise
 * undefined.
 */
export function findWideProgram(name: string, words: readonly string[]): WideProgram | undefined {
  const plain = plainName(name)
  const [first = '', second = ''] = words.filter((word) => !word.startsWith('-'))
  const row = ROWS.find((one) => {
    return one.names.test(plain) && one.isWide.test(first) && (one.isWideNext?.test(second) ?? true)
  })
  if (row) return { permits: row.permits, instead: row.instead.replaceAll('NAME', name) }
  const isOwn = name.includes('/') && !/^[/~]/.test(name)
  return isOwn ? { permits: `${ANY} (when the agent changes ${name})`, instead: ONE_LINE } : undefined
}

interface Row extends WideProgram {
  names: RegExp
  /** The first word that is not an option; empty when there is none. */
  isWide: RegExp
  /** The second such word. If absent, any word matches. */
  isWideNext?: RegExp
}

const ANY = 'any command'
const ONE_LINE = 'write the whole line'

/** The known programs; the first row that matches counts. */
const ROWS: readonly Row[] = [
  {
    names: INTERPRETERS,
    isWide: /^[^./]*$/,
    permits: ANY,
    instead: 'name the script, as in bash(NAME scripts/build *)',
  },
  {
    names:
      /^(g?awk|mawk|sed|gdb|lldb|psql|mysql|mariadb|sqlite3?|duckdb|mongo|mongosh|redis-cli|at|batch|crontab|m4|dc|gnuplot|vi|vim|nvim|emacs|ed|ex|less|more|man|screen|tmux)$/,
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
    names: /^git$/,
    isWide: /^(send-email|init|instaweb|daemon|remote)$/,
    permits: `${ANY} (by --smtp-server, --template and addresses such as ext::)`,
    instead: ONE_LINE,
  },
  {
    names: /^git$/,
    isWide: /^(apply|am)$/,
    permits: 'changing any file, regardless of the rules for edit',
    instead: ONE_LINE,
  },
  {
    names: /^git$/,
    isWide: /^credential/,
    permits: 'printing stored passwords',
    instead: ONE_LINE,
  },
  {
    names: /^(npm|pnpm|yarn|bun)$/,
    isWide: /^run(-script)?$/,
    isWideNext: /^$/,
    permits: 'any script of package.json',
    instead: 'name a script, as in bash(NAME run build *)',
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
    names: /^cargo$/,
    isWide: /(?:)/,
    permits: 'any program (by --config)',
    instead: 'name it without a *, as in bash(NAME test)',
  },
  {
    names: /^(go|gradle|gradlew|mvn|dotnet|bazel)$/,
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
    names: /^(curl|wget|nc|ncat|socat|scp|sftp|ftp|rclone|aws|gcloud|az)$/,
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
    isWide: /^(api|alias|ext|extension|auth|codespace|cs|config|secret|)$/,
    permits: 'anything your account may do',
    instead: 'name what it does, as in bash(NAME pr view *)',
  },
  {
    names: /^(gh|glab)$/,
    isWide: /^(gist|snippet|release|repo|issue|pr|mr)$/,
    isWideNext: /^(create|edit|upload|clone|)$/,
    permits: 'sending any file to your account',
    instead: 'name what it does, as in bash(NAME pr view *)',
  },
  {
    names:
      /^(tsc|eslint|biome|prettier|oxlint|stylelint|vite|vitest|jest|mocha|ava|tap|c8|nyc|karma|cypress|playwright|webpack|rollup|esbuild|turbo|nx|pytest|tox|nox|ruff|mypy|pyright|pylint|black|flake8|isort|gofmt|rustfmt|golangci-lint|rspec|rubocop|rake|phpunit|phpstan|pre-commit)$/,
    isWide: /(?:)/,
    permits: 'running or overwriting any file (by options, plugins and configuration)',
    instead: ONE_LINE,
  },
  {
    names: /^(systemctl|launchctl|service|terraform|tofu|ansible.*|pulumi)$/,
    isWide: /(?:)/,
    permits: 'any program (by units and configuration)',
    instead: ONE_LINE,
  },
  {
    names: /^(tar|gtar|bsdtar|zip|unzip|7z[a-z]?|cpio|pax)$/,
    isWide: /(?:)/,
    permits: `${ANY}, and overwriting any file (by options of compression and the names in an archive)`,
    instead: ONE_LINE,
  },
  {
    names: /^(cp|mv|ln|tee|dd|install|rsync|truncate)$/,
    isWide: /(?:)/,
    permits: 'overwriting any file, such as ~/.bashrc,',
    instead: `${ONE_LINE}, or allow edit(src/**)`,
  },
  {
    names: /^(javac?|gcc|g\+\+|cc|c\+\+|clang(\+\+)?|ld|as|rustc|cmake|meson|openssl)$/,
    isWide: /(?:)/,
    permits: 'running or overwriting any file (by its options)',
    instead: ONE_LINE,
  },
]
