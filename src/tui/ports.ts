import type { ChatSettings } from '../core/base/chat-settings.ts'
import type { GarbageCollector } from '../core/base/garbage-collector.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'
import type { LogInPort, ServerDescription } from './server-ports.ts'
import type { SentText } from './text/history.ts'

/** The current connection to the agents. */
export interface ChatLink {
  place: 'process' | 'daemon'
  /** Changes when the daemon restarts, because it then numbers events from the start. */
  instance: string
  /** Facts about the connection that the user should know, each reported once. */
  notes: readonly LinkNote[]
}

/** A fact about the connection, as a sentence, and what to do about it. */
export interface LinkNote {
  text: string
  hint?: string
}

/** A file that is sent along with a message. Its bytes are included for the types that a model can view. */
export interface AttachedFile {
  name: string
  mediaType: string
  data: Uint8Array
}

/** The name of a file that was pasted from the clipboard. */
export const CLIPBOARD_NAME = 'clipboard.png'

/** A message as it is sent: the typed text with the files it names. */
export interface ExpandedMessage {
  content: string
  attachments: readonly AttachedFile[]
  /** Names that look like files and could not be attached, each with its reason, as sentences. */
  problems: readonly string[]
}

/** A model provider that can be connected. */
export interface ProviderOption {
  /** The name by which tryProvider() knows it. */
  id: string
  title: string
  /** Whether the user must give the address. */
  asksAddress: boolean
  key: 'required' | 'optional' | 'none'
  /** The variable of the environment that holds a usable key. */
  keyVariable?: string
  /** The page on which a user creates a key. */
  keyPage?: string
  /** The models of a server that was found on this machine; empty for all other providers. */
  models: readonly string[]
  /**
   * The address of a provider that config.toml has already, whose key can be replaced; empty for its usual one. Absent
   * for a provider that would be added.
   */
  savedAddress?: string
  /** The place of the key of such a provider, as in `in the vault`. */
  keyPlace?: string
}

/** The settings of a provider, as the user gave them. */
export interface ProviderInput {
  id: string
  baseUrl?: string | undefined
  /** Absent: the key of the environment, or none. */
  apiKey?: string | undefined
}

/** The setup of model providers in config.toml. It remembers the last input until that is saved. */
export interface ProviderSetup {
  /** Lists what can be connected, including servers found on this machine. */
  list(signal: AbortSignal): Promise<readonly ProviderOption[]>
  /**
   * Tries a provider, by default the last one again, with one request. Returns its models, and the one to
   * preselect; no names when the provider does not list them. Throws `credentials`, `unavailable`, `timeout`
   * or `config` with a message for the user.
   */
  tryProvider(
    input: ProviderInput | undefined,
    signal: AbortSignal,
  ): Promise<{ names: readonly string[]; usual: string | undefined }>
  /**
   * Saves the last provider with a default model, and returns that model as it is addressed from now on, with
   * sentences about where everything was saved. `tries`: the model is called once before, and nothing is written when
   * that fails.
   */
  save(
    model: string | undefined,
    options: { tries: boolean },
    signal: AbortSignal,
  ): Promise<{ model: string | undefined; place: string }>
  /** Returns true once per home, as long as config.toml names no model: the chat then offers to connect one. */
  claimFirstOffer(): Promise<boolean>
}

/** The settings that were read, and what is wrong with them. */
export interface SettingsResult {
  /** Undefined when the file or a value in it is not valid. */
  settings: ChatSettings | undefined
  /** Sentences that begin with the file and the line, such as `config.toml:3: …`. */
  problems: readonly string[]
}

/** The settings of the chat in config.toml. */
export interface SettingsPort {
  read(): Promise<SettingsResult>
  /**
   * Writes a key of the `[tui]` table, or removes it when the value is undefined. Comments stay. Throws
   * `config` when the value, or the file, is not valid.
   */
  write(path: readonly string[], value: unknown, signal: AbortSignal): Promise<void>
  /** Calls back when the file may have changed. */
  watch(listener: () => void): Disposable
}

/** A finding about this installation. */
export interface SetupFinding {
  status: 'ok' | 'note' | 'warning' | 'problem'
  message: string
  /** The advice for the user. */
  hint?: string | undefined
  isFixable: boolean
}

/** The findings of one area, such as `home`. */
export interface SetupArea {
  area: string
  findings: readonly SetupFinding[]
}

/** A scheduled message, described for the user. */
export interface ScheduledEntry {
  id: number
  message: string
  /** The schedule in words. */
  schedule: string
  /** The address of its conversation, such as `crab/cron`. */
  address: string
  /** The time until it fires next, such as `in 5m`; `-` while no scheduler runs. */
  next: string
  /** The next times, soonest first. */
  times: readonly string[]
  /** The result of the last run, such as `ok 3m ago`; empty when there was none. */
  last: string
  /** The reason why the last run failed; empty when it did not. */
  failure: string
  /** The conversation of the last run. */
  session: string | undefined
}

/** The schedules of the home. Changes throw `missing` for an entry that does not exist. */
export interface SchedulesPort {
  /** Lists the entries, and what else the user should know, as sentences. Throws `config` or `storage`. */
  list(): Promise<{ entries: readonly ScheduledEntry[]; notes: readonly string[] }>
  /** Fires an entry now, and returns the answer and its conversation. Throws the error of a turn that fails. */
  run(id: number, signal: AbortSignal): Promise<{ answer: string; session: string }>
  remove(id: number, signal: AbortSignal): Promise<void>
}

/** A file of MCP servers that the user has not trusted, and the question about it. */
export interface UntrustedServers {
  path: string
  /** The question with everything that would run, of several lines. */
  question: string
}

/** The MCP servers that files give to one message. */
export interface MessageServers {
  /** The turn options: literal entries as JSON, or that the turn has no servers. */
  options: { mcps?: string[]; noMcp?: boolean }
  /** Facts about servers that are not used, each reported once. */
  notes: readonly LinkNote[]
  /** The next file to ask about. */
  unanswered: UntrustedServers | undefined
}

/** A server that a file gives to the conversations of this window. */
export interface SessionServerRow {
  name: string
  /** Absolute. */
  file: string
  state: 'ready' | 'disabled' | 'invalid' | 'untrusted'
  scope: 'user' | 'project'
  /** The reason why it is not used; empty when it is. */
  problem: string
  /** The literal entry as JSON; absent when it cannot be used. It may contain secrets. */
  entry?: string
}

/** The MCP servers that files give to the conversations of this window. */
export interface SessionServersPort {
  /** Finds the servers of the next message to an agent. */
  find(agent: string, signal: AbortSignal): Promise<MessageServers>
  /** Stores the answer about a file; without one, the file is not asked about again in this window. */
  answer(file: UntrustedServers, isTrusted: boolean | undefined, signal: AbortSignal): Promise<void>
  /** Lists the servers as they were read a few seconds ago, or reads them now. */
  list(options?: { readsNow?: boolean }): Promise<readonly SessionServerRow[]>
  readonly logIn: LogInPort
  /** Describes the servers of an agent, or one of them: which it gets, what decided that, and how they are. */
  view(target: { agent: string; name?: string }, signal: AbortSignal): Promise<ServerDescription>
}

/** A message that has not been sent, and the conversation it was written for. */
export interface WindowDraft {
  agent: string
  sender: string
  /** The directory in which it was written. */
  cwd: string
  text: string
  /** The parts of the text that were pasted. */
  pasted: readonly string[]
  /** The messages that waited for the end of the turn, oldest first. */
  queue?: readonly SentText[]
  /** The messages for the running turn that it had not taken up. */
  steers?: readonly UnreadSteer[]
  /** The running turn that the steers are for. */
  runId?: string
}

/** A message for a running turn that the window has not seen it take up. */
export interface UnreadSteer extends SentText {
  /** The text as sent; absent when it was not sent yet. */
  content?: string
}

/** A draft that a window stored before it was killed. */
export interface StoredDraft extends WindowDraft {
  id: string
  /** Milliseconds since 1970. */
  savedAt: number
}

/**
 * The memory that windows of the chat share: drafts, and when each conversation was last seen. Never rejects: in a
 * read-only home, nothing is remembered.
 */
export interface WindowMemory {
  /** Replaces the stored draft of this window; undefined removes it. */
  saveDraft(draft: WindowDraft | undefined): Promise<void>
  /** Returns the drafts that other windows have stored, running ones too, newest first. */
  readDrafts(): Promise<readonly StoredDraft[]>
  removeDraft(id: string): Promise<void>
  /** Records that a conversation, or a view by its name, was seen just now. */
  markLookedAt(session: string): Promise<void>
  /** Returns when each conversation was last seen in a chat, in milliseconds since 1970, by session. */
  readLookedAt(): Promise<ReadonlyMap<string, number>>
}

/** A server of the catalog. */
export interface CatalogOption {
  id: string
  /** The description of what it does and what it needs. */
  detail: string
  isInstalled: boolean
}

/** The catalog of MCP servers. Its methods throw errors with a message for the user. */
export interface CatalogPort {
  list(agent: string, signal: AbortSignal): Promise<readonly CatalogOption[]>
  /**
   * Describes an installation: the command that the server runs or its address, and whether the server can be used
   * immediately. Throws `conflict` when the agent has such a server, and `usage` when values must be given.
   */
  plan(id: string, agent: string, signal: AbortSignal): Promise<{ target: string; isReady: boolean }>
  /** Installs a server. Returns the result as a sentence, and the commands that the user has to run. */
  install(id: string, agent: string, signal: AbortSignal): Promise<{ text: string; steps: readonly string[] }>
}

/**
 * The dependencies that the caller gives the chat: one way to the agents, and the few things it needs from
 * this machine. The chat opens no file and starts no program itself.
 */
export interface ChatPorts {
  readonly dispatch: Dispatch
  readonly providers: ProviderSetup
  /**
   * Connects to the agents; `dispatch` then uses this connection. With `anew`, after a connection loss, it
   * looks for them again and starts a daemon only where `mayStart` allows it. Throws `unavailable` when there
   * is none yet.
   */
  connect(options: { anew: boolean; mayStart: boolean }, signal: AbortSignal): Promise<ChatLink>
  /** The directory of this window: tools, files and shell lines use it. Absolute. */
  readonly cwd: string
  /** `cwd` for display, with the home directory as `~`. */
  readonly shownCwd: string
  /** Returns a path for display, with the home directory as `~`. */
  abbreviate(path: string): string
  /** Makes a directory the one of this window. Returns false, and changes nothing, when it does not exist. */
  enter(cwd: string): Promise<boolean>
  /** Returns the sender of a new conversation that belongs to this window. */
  newSender(): string
  readonly memory: WindowMemory
  garbageCollector(): Promise<GarbageCollector>
  /** The caller's environment without provider keys, passed to the processes that tools start. */
  readonly env: Readonly<Record<string, string>>
  readonly settings: SettingsPort
  readonly schedules: SchedulesPort
  readonly servers: SessionServersPort
  readonly catalog: CatalogPort
  /** Checks this installation as `crabtalk doctor` does, with `--fix` or `--deep` if that is asked for. */
  checkSetup(options: { fix: boolean; deep: boolean }, signal: AbortSignal): Promise<readonly SetupArea[]>
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a clock that never jumps. */
  elapsed(): number
  /** Returns the git branch of `cwd`; undefined when there is none. */
  branch(): Promise<string | undefined>
  /** Returns the texts sent in earlier runs, oldest first. */
  readHistory(): Promise<readonly SentText[]>
  /** Remembers a sent text and the parts of it that were pasted. Failures are not reported. */
  rememberSent(text: string, pasted?: readonly string[]): Promise<void>
  /**
   * Finds files and folders (these end in `/`) that match the text after an `@`, best first, relative to
   * `cwd`.
   */
  findFiles(query: string, signal: AbortSignal): Promise<readonly string[]>
  /** Whether `cwd` contains a file with that name, whatever git ignores. */
  hasFile(name: string): Promise<boolean>
  /** Attaches the files that a message names with `@`, except inside pasted parts. */
  expand(text: string, pasted: readonly string[], signal: AbortSignal): Promise<ExpandedMessage>
  /**
   * Opens a text in $EDITOR, which gets the terminal. Returns undefined when the text is unchanged or the
   * editor failed.
   */
  editText(text: string): Promise<string | undefined>
  /** Copies a text to the clipboard. Returns how it was copied, or throws. */
  copy(text: string): Promise<string>
  /** Returns the image on the clipboard, or else its text; undefined when it has neither or cannot be read. */
  paste(signal: AbortSignal): Promise<AttachedFile | string | undefined>
  /**
   * Writes a new file, relative to `cwd` unless absolute, and returns its path. Throws `conflict` when the
   * file exists.
   */
  writeNewFile(path: string, text: string): Promise<string>
  /**
   * Runs a command line that the user typed after `!`, in `cwd` and with the terminal's width. Passes its
   * newest lines to `onOutput`.
   */
  runShell(
    line: string,
    onOutput: (newest: string) => void,
    signal: AbortSignal,
  ): Promise<{ output: string; exitCode: number }>
  /**
   * Runs `git` with these arguments, a part of a command line that only reads, in `cwd`. Nothing that the
   * repository configures starts a program.
   */
  readGit(args: string, signal: AbortSignal): Promise<GitReading>
}

/**
 * The output and exit code of git; `unchecked` when it was not run, because the repository might start a
 * program; `none` outside of a repository.
 */
export type GitReading =
  | { kind: 'read'; output: string; exitCode: number }
  | { kind: 'unchecked' }
  | { kind: 'none' }

/** The initial settings of the chat. */
export interface ChatOptions {
  agent: string
  sender: string
  /**
   * Set unless the user named the sender: each new conversation then gets a sender of its own, and the chat
   * opens the last conversation of its directory. `person` is the sender of the user, whose conversations
   * count as well.
   */
  window?: { person: string } | undefined
  /** A model for this chat instead of the agent's. */
  model?: string | undefined
  /** A reasoning effort for this chat instead of the agent's. */
  effort?: string | undefined
  /**
   * The session to continue. Without it, the chat shows the last conversation of its directory, or the active
   * session of the pair when the user named the sender.
   */
  session?: string | undefined
  /** Start a new conversation. */
  fresh: boolean
  /** Show the list of conversations first. */
  picks?: boolean
  /** A message to send immediately. */
  prompt?: string | undefined
  /** The approval mode; undefined leaves it to the agent's file. */
  mode?: ModeName | undefined
  /** Added directories, absolute; rules treat their files like those of the working directory. */
  roots?: readonly string[] | undefined
  /** Permission rules for every turn of this chat. */
  rules: { allow: readonly string[]; ask: readonly string[]; deny: readonly string[] }
  /** Whether turns use no MCP servers. */
  noMcp?: boolean
  color: boolean
  version: string
}

/** The approval mode, which decides calls that no rule decides. Shift+Tab cycles through `ask`, `edits` and `plan`. */
export type ModeName = 'ask' | 'edits' | 'plan' | 'read-only' | 'all'
