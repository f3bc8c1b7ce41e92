import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { isNote, pastedIn, withReturned } from '../text/prompt.ts'
import { runShellLine } from './shell-line.ts'
import { type Commands, isCommand } from './slash.ts'
import type { Turns } from './turns.ts'

type Work = (signal: AbortSignal) => Promise<void>

export interface LineSubmitterOptions {
  store: ChatStore
  ports: ChatPorts
  commands: Pick<Commands, 'run' | 'isForAgent'>
  turns: Turns
  /** Runs what Esc can end. */
  run(work: Work): Promise<void>
  /** As `run`, for what a person has to see before keys mean something else. */
  command(work: Work): Promise<void>
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** What becomes of a line that was typed: a message, a command, a line of the shell, a note. */
export class LineSubmitter {
  readonly #options: LineSubmitterOptions
  /** The line that was to be kept last stands where it belongs. */
  #lastQueued: Promise<void> | undefined

  constructor(options: LineSubmitterOptions) {
    this.#options = options
  }

  /** Does what the line is for, now. */
  async submit(text: string): Promise<void> {
    const { commands, turns, command, run } = this.#options
    if (text.trim() === '') return
    this.#remember(text)
    if (isCommand(text)) await command((stop) => commands.run(text, stop))
    else if (text.startsWith('!')) await command((stop) => this.#shell(text.slice(1).trim(), stop))
    else if (isNote(text)) await run((stop) => this.#note(text, stop))
    else turns.say(text)
  }

  /** Keeps a line for when nothing runs any more, behind those before; one that is not for the agent goes back into the prompt. */
  async queue(text: string): Promise<void> {
    const mine = this.#lastQueued ? this.#lastQueued.then(() => this.#queue(text)) : this.#queue(text)
    this.#lastQueued = mine
    await mine
    if (this.#lastQueued === mine) this.#lastQueued = undefined
  }

  async #queue(text: string): Promise<void> {
    const { store, turns, commands, signal } = this.#options
    const isForAgent = isCommand(text) && (await commands.isForAgent(text, signal).catch(() => false))
    if (!isForAgent && (isCommand(text) || text.startsWith('!') || isNote(text))) {
      const prompt = withReturned(store.get().prompt, [text])
      const hint = 'Commands do not wait: Enter runs this one now'
      return store.act({ type: 'set', change: { prompt, hint } })
    }
    this.#remember(text)
    turns.queue(text)
  }

  #remember(text: string): void {
    const { ports, store } = this.#options
    ports.rememberSent(text, pastedIn(store.get().prompt, text)).catch(() => undefined) // a convenience, and nobody's business
  }

  async #shell(line: string, signal: AbortSignal): Promise<void> {
    const { store, ports, turns } = this.#options
    const tell = (text: string) => turns.addContext(text)
    if (line !== '') await runShellLine(line, { ports, act: store.act, tell }, signal)
  }

  async #note(line: string, signal: AbortSignal): Promise<void> {
    const { store, ports } = this.#options
    const { rememberNote } = await import('./note-line.ts')
    const { agent } = store.get()
    await rememberNote(line, { dispatch: ports.dispatch, agent, act: store.act }, signal)
  }
}
