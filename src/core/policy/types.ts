/** What a rule does: deny wins over ask, ask over allow, whatever their order and source (decision 29). */
export type RuleEffect = 'allow' | 'ask' | 'deny'

/** Where a turn comes from, which decides what it may do when no rule matches (decision 29). */
export type Trust = 'local' | 'unattended' | 'remote'

/** A rule as it is written, such as `bash(git commit *)`; pattern.ts reads it. */
export interface Rule {
  effect: RuleEffect
  pattern: string
  /** Where it is written, for people: `agents/crab.toml:4`, `--allow`, `this conversation`. */
  source: string
  /** The only class it holds for, from `[permissions.remote]` or `[permissions.unattended]`; absent: see rulesFor(). */
  for?: Exclude<Trust, 'local'>
  /** The pattern as it is matched when links lie on its path; resolveRules() adds it, nothing stores it. */
  resolved?: string
}

/** The version of each file, by resolved path, that the model of a call has seen. */
export interface SeenVersions {
  get(path: string): string | undefined
}

/** A file that rules and modes for many files leave out: changing it runs programs later, or instructs agents. */
export interface EditGuard {
  /** The name, in lower case, that a rule must say to allow it: `.git`. */
  name: string
  /** Whether it is asked about whatever rules and modes say. */
  isAlways: boolean
}

/** The reads of a simple command that is known to change nothing; paths are absolute, links resolved. */
export interface ReadOnlyUse {
  /** The built-in form, for people: `git log`. */
  form: string
  /** Files and folders that it names, all in the working directory. */
  paths: readonly string[]
  /** Folders of which it may show the content of any file. */
  trees: readonly string[]
  /** The top folder of the repository that git reads; it may lie above the working directory. */
  repository?: string
}

/** The reason to ask about a command of the read-only list all the same. */
export interface ReadOnlyDoubt {
  /** A clause for people: `.git/config starts programs (diff.foo.textconv)`. */
  why: string
  /** Whether it may run a program that files of the project name; no rule is offered for it then. */
  startsPrograms: boolean
}

/**
 * What one tool call would do; each tool says it, the policy judges it.
 *
 * Paths are absolute with every link resolved, as far as they exist; `shown` is what the model wrote.
 */
export type PolicyAction =
  | { kind: 'read'; path: string; shown: string }
  /** `diff` makes a unified diff, for a person who is asked, or fails as the call would; without `seen` as if all was seen. */
  | {
      kind: 'edit'
      path: string
      shown: string
      diff?: (seen?: SeenVersions) => Promise<string>
      guard?: EditGuard | undefined
    }
  /**
   * One shell command line, as it would be run in the working directory. `readOnly` has an entry for each of its simple
   * commands that is known to change nothing, `doubts` one for each that would be, if it were not for a reason.
   */
  | {
      kind: 'bash'
      command: string
      readOnly?: readonly (ReadOnlyUse | undefined)[]
      doubts?: readonly (ReadOnlyDoubt | undefined)[]
    }
  /** `name` is what the model calls it; rules match it and `mcp__<server>__<remote name>`. */
  | { kind: 'mcp'; name: string; server: string; tool: string }
  /**
   * Any other tool. One that is harmless needs no permission; `own`: it is about what the agent itself remembers, which
   * needs none but for a remote turn, where it does.
   */
  | { kind: 'tool'; name: string; harmless: boolean; own?: true }

/**
 * How much is done without asking; rules still apply.
 *
 * `ask`: what decision 29 says. `edits`: changes files of its workspace without asking. `read-only`: refuses whatever
 * changes something. `all`: allows what no rule denies.
 */
export type ApprovalMode = 'ask' | 'edits' | 'read-only' | 'all'

/** Where a decision is made. */
export interface PolicyContext {
  trust: Trust
  /** The working directory, links resolved; paths in rules are relative to it. */
  workspace: string
  /** Further folders that may be read without asking, links resolved: what tools of this conversation wrote for it. */
  readable: readonly string[]
  /** The person's own directory, for `~/` in rules; empty when there is none. */
  homeDir: string
  /** `edits` and `all` count for the local class only. */
  mode: ApprovalMode
  /** From resolveRules(), or rules about paths with links on them match nothing. */
  rules: readonly Rule[]
}

/** What the policy says of an action. */
export interface Decision {
  effect: RuleEffect
  /** The rule that decided; undefined when none matched. */
  rule: Rule | undefined
  /** Every rule that matched. */
  matched: readonly Rule[]
  /** The built-in form that decided, such as `git log`; for a line of several commands, the first. */
  builtIn?: string
  /** For a person and for the model: why. A whole clause without a full stop. */
  reason: string
  /**
   * The narrowest rules that would allow it together: one for each command of a line that is not allowed yet. Plain `bash`
   * when no narrower rule can; empty when no rule that allows would help, or when it would mean any command.
   */
  suggestions: readonly string[]
  /** The suggestions that one answer may grant for later calls; none for interpreters and launchers, and never `bash`. */
  offered: readonly string[]
  /** Sentences about what the rules that matched allow besides, each with a narrower rule. */
  warnings: readonly string[]
  /** The commands of a command line, in its order; absent where it cannot be taken apart, and for other actions. */
  commands?: readonly JudgedCommand[]
}

/** One simple command of a command line, and whether it needs an answer. */
export interface JudgedCommand {
  /** The command as a shell reads it, quoted where it has to be. */
  text: string
  asks: boolean
}
