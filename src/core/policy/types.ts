import type { ProjectServerFile } from '../config/project-server-file.ts'

/**
 * The effect of a rule. Deny takes precedence over ask, and ask over allow, regardless of order and source
 * (ADR 0071).
 */
export type RuleEffect = 'allow' | 'ask' | 'deny'

/** The class of a turn by its origin, which decides what it may do when no rule matches (ADR 0071). */
export type Trust = 'local' | 'unattended' | 'remote'

/** A rule as written, such as `bash(git commit *)`; parseRule() parses it. */
export interface Rule {
  effect: RuleEffect
  pattern: string
  /** The location shown to users: `agents/crab.toml:4`, `--allow`, `this conversation`. */
  source: string
  /**
   * The only class it applies to, from `[permissions.remote]` or `[permissions.unattended]`. If absent,
   * rulesFor() decides.
   */
  for?: Exclude<Trust, 'local'>
  /**
   * The servers of project files whose tools an allow rule may allow: `any` for a rule of this turn, one that the
   * user wrote for this conversation, or one of the entry itself; one file for an answer about a tool of it. Absent
   * for stored rules, which allow none of those tools (ADR 0220).
   */
  projects?: 'any' | ProjectServerFile
  /** The pattern with the links on its path resolved. resolveRules() adds it; it is never stored. */
  resolved?: string
}

/** The version of each file, by resolved path, that the model of a call has seen. */
export interface SeenVersions {
  get(path: string): string | undefined
}

/**
 * A protected file, which broad rules and modes do not cover: changing it runs programs later, or instructs
 * agents.
 */
export interface EditGuard {
  /** The name, in lower case, that a rule must contain to allow it: `.git`. */
  name: string
  /** Whether it always requires confirmation, regardless of rules and modes. */
  isAlways: boolean
}

/**
 * The files and folders read by a simple command that is known to change nothing. Paths are absolute, with links
 * resolved.
 */
export interface ReadOnlyUse {
  /** The built-in form as shown to users: `git log`. */
  form: string
  /** The files and folders that it names, all in the working directory or an added one. */
  paths: readonly string[]
  /** Folders whose files it may show, at any depth. */
  trees: readonly string[]
  /**
   * The top folders of the repositories that git may read, none of them inside another; they may be above the
   * working directory.
   */
  repositories?: readonly string[]
}

/** The reason why a command on the read-only list needs confirmation after all. */
export interface ReadOnlyDoubt {
  /** A clause for users: `.git/config starts programs (diff.foo.textconv)`. */
  why: string
  /** Whether it may run a program that project files name; no rule is offered then. */
  startsPrograms: boolean
  /** The reads of the command in a line of its own, if only the other commands of the line raise the doubt. */
  alone?: ReadOnlyUse
}

/**
 * The action of one tool call. The tool describes it, and the policy decides about it.
 *
 * Paths are absolute with links resolved as far as they exist; `shown` is what the model wrote.
 */
export type PolicyAction =
  | { kind: 'read'; path: string; shown: string }
  /**
   * `diff` computes a unified diff for the user who is asked, or fails as the call would. Without `seen` it
   * assumes that the model has seen everything.
   */
  | {
      kind: 'edit'
      path: string
      shown: string
      diff?: (seen?: SeenVersions) => Promise<string>
      guard?: EditGuard | undefined
    }
  /**
   * One shell command line that would run in the working directory. `readOnly` has an entry for each simple
   * command that is known to change nothing; `doubts` has one for each that would be, except for a reason.
   */
  | {
      kind: 'bash'
      command: string
      readOnly?: readonly (ReadOnlyUse | undefined)[]
      doubts?: readonly (ReadOnlyDoubt | undefined)[]
    }
  /**
   * `name` is the model's name for the tool. Rules match it and `mcp__<server>__<remote name>`. `project` is the
   * project's file that declares the server.
   */
  | { kind: 'mcp'; name: string; server: string; tool: string; project?: ProjectServerFile }
  /**
   * Any other tool. A harmless one needs no permission. `own` marks the agent's own memory, which needs
   * permission in remote turns only.
   */
  | { kind: 'tool'; name: string; harmless: boolean; own?: true }

/**
 * The degree to which actions run without asking. Rules still apply.
 *
 * `ask`: the defaults of the turn's class (ADR 0071). `edits`: changes files in its workspace without asking.
 * `read-only`: denies anything that changes something. `plan`: the same, until the user has accepted a plan
 * (ADR 0186). `all`: allows everything that no rule denies.
 */
export type ApprovalMode = 'ask' | 'edits' | 'read-only' | 'plan' | 'all'

/** The context of a decision. */
export interface PolicyContext {
  trust: Trust
  /** The working directory, with links resolved. Paths in rules are relative to it. */
  workspace: string
  /** Added directories, links resolved; their files are treated like those of the working directory. */
  roots?: readonly string[]
  /**
   * Additional folders that may be read without asking, with links resolved: output that tools wrote for this
   * conversation.
   */
  readable: readonly string[]
  /** The user's home directory, for `~/` in rules; empty when there is none. */
  homeDir: string
  /** The approval mode. `edits` and `all` apply to the local class only. */
  mode: ApprovalMode
  /** The rules, after resolveRules(); otherwise rules whose paths contain links match nothing. */
  rules: readonly Rule[]
}

/** The decision about an action. */
export interface Decision {
  effect: RuleEffect
  /** The rule that decided; undefined when none matched. */
  rule: Rule | undefined
  /** Every rule that matched. */
  matched: readonly Rule[]
  /** The built-in form that decided, such as `git log`; the first one for a line with several commands. */
  builtIn?: string
  /** The reason, for users and models: a complete clause without a full stop. */
  reason: string
  /**
   * The narrowest rules that together would allow the action: one for each command of a line that is not
   * allowed yet. It is `bash` alone when no narrower rule can allow it, and empty when no rule would help or
   * when a rule would mean any command.
   */
  suggestions: readonly string[]
  /**
   * The suggestions that one answer may grant for later calls. Excludes rules for launchers, and never contains
   * `bash`.
   */
  offered: readonly string[]
  /**
   * Whether the agent's file may keep them; false for code and for tools of a project's servers, which are offered
   * for the conversation only.
   */
  isSavable: boolean
  /** Sentences about what else the matching rules allow, each with a narrower rule. */
  warnings: readonly string[]
  /** The commands of a command line, in order; absent for lines that cannot be split, and for other actions. */
  commands?: readonly JudgedCommand[]
}

/** One simple command of a command line, and whether it needs confirmation. */
export interface JudgedCommand {
  /** The command in shell syntax, quoted where necessary. */
  text: string
  asks: boolean
  /** The reason why it needs confirmation, as a clause; otherwise empty. */
  reason: string
}
