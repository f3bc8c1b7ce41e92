import type { Dispatch } from '../core/protocol/dispatch.ts'
import type { SentText } from './text/history.ts'

/** How the agents are reached. */
export interface ChatLink {
  place: 'process' | 'daemon'
  /** Another one for a daemon that was started again: it counts events anew. */
  instance: string
  /** What a person should know of it, as sentences. */
  notes: readonly string[]
}

/** A file that goes along with a message: its bytes, for the kinds a model can look at. */
export interface AttachedFile {
  name: string
  mediaType: string
  data: Uint8Array
}

/** A message as it is sent: what was typed, with the files it names. */
export interface ExpandedMessage {
  content: string
  attachments: readonly AttachedFile[]
  /** Names that look like files and could not be added, with the reason, as sentences. */
  problems: readonly string[]
}

/**
 * What the chat is given by whoever starts it: one way out to the agents, and the little it needs of this machine. It
 * opens no file and starts no program itself.
 */
export interface ChatPorts {
  readonly dispatch: Dispatch
  /**
   * Reaches the agents, for whatever `dispatch` is given from then on. After a loss (`anew`) it looks for them again, and
   * starts a daemon only where it may; throws `unavailable` when there is none yet.
   */
  connect(options: { anew: boolean; mayStart: boolean }, signal: AbortSignal): Promise<ChatLink>
  /** Absolute. */
  readonly cwd: string
  /** As `cwd`, short: the home directory as `~`. */
  readonly shownCwd: string
  /** The caller's environment without provider keys, for what tools start. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  now(): number
  /** The git branch of `cwd`; undefined where there is none. */
  branch(): Promise<string | undefined>
  /** What was sent in earlier runs, oldest first. */
  readHistory(): Promise<readonly SentText[]>
  /** Remembers what was sent, and what of it was pasted; failures are nobody's business. */
  rememberSent(text: string, pasted?: readonly string[]): Promise<void>
  /** Files and folders (these end in `/`) that fit what stands behind an `@`, best first, relative to `cwd`. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly string[]>
  /** Adds the files that a message names with `@`, outside of what was pasted into it. */
  expand(text: string, pasted: readonly string[], signal: AbortSignal): Promise<ExpandedMessage>
  /** Lets a person edit a text in $EDITOR, with the terminal given to it; undefined when it was left unchanged or failed. */
  editText(text: string): Promise<string | undefined>
  /** Puts a text on the clipboard; says how, or throws. */
  copy(text: string): Promise<string>
  /** An image on the clipboard, or else its text; undefined when there is neither, or no way to ask. */
  paste(signal: AbortSignal): Promise<AttachedFile | string | undefined>
  /** Writes a new file, relative to `cwd` unless absolute; gives its path. Throws `conflict` when it exists. */
  writeNewFile(path: string, text: string): Promise<string>
  /** Runs a command line in `cwd`, as the person typed it, with the terminal's width, and tells its newest lines; for `!`. */
  runShell(
    line: string,
    tell: (newest: string) => void,
    signal: AbortSignal,
  ): Promise<{ output: string; exitCode: number }>
}

/** How the chat begins. */
export interface ChatOptions {
  agent: string
  sender: string
  /** A model for this chat instead of the agent's. */
  model?: string | undefined
  /** The session to continue; else the active one of the pair is shown, if there is one, with its last messages. */
  session?: string | undefined
  /** Begin a new conversation. */
  fresh: boolean
  /** Sent at once. */
  prompt?: string | undefined
  mode: ModeName
  /** Rules of permission for every turn of this chat. */
  rules: { allow: readonly string[]; ask: readonly string[]; deny: readonly string[] }
  color: boolean
  version: string
}

/** Who decides about what no rule decides; Shift+Tab goes round. */
export type ModeName = 'ask' | 'edits' | 'read-only' | 'all'
