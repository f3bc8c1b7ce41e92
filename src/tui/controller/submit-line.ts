import { toCrabError } from '../../core/base/errors.ts'
import { Serial } from '../../core/base/serial.ts'
import { foldOutput, wrapShellLine } from '../../core/base/typed-message.ts'
import type { ChatPorts } from '../ports.ts'
import type { ChatAction } from '../state/actions.ts'
import type { ChatStore } from '../state/store.ts'
import { findPasted, isNote, withReturned } from '../text/prompt-state.ts'
import type { Block } from '../view/blocks.ts'
import { type Commands, isCommand } from './slash.ts'
import type { Turns } from './turns.ts'

type Work = (signal: AbortSignal) => Promise<void>

export interface LineSubmitterOptions {
  store: ChatStore
  ports: ChatPorts
  commands: Pick<Commands, 'run' | 'isForAgent'>
  turns: Turns
  /** Runs work that Esc can interrupt. */
  run(work: Work): Promise<void>
  /** Like `run`, for work whose result gets keys immediately, because the user asked for it. */
  command(work: Work): Promise<void>
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/** Routes a typed line: a message, a slash command, a shell line, or a note. */
export class LineSubmitter {
  readonly #options: LineSubmitterOptions
  /** Handles queued lines one after another. */
  readonly #lines = new Serial()

  constructor(options: LineSubmitterOptions) {
    this.#options = options
  }

  /** Handles the line immediately. */
  async submit(text: string): Promise<void> {
    const { commands, turns, command, run } = this.#options
    if (text.trim() === '') return
    this.#remember(text)
    if (isCommand(text)) await command((stop) => commands.run(text, stop))
    else if (text.startsWith('!')) await command((stop) => this.#shell(text.slice(1).trim(), stop))
    else if (isNote(text)) await run((stop) => this.#note(text, stop))
    else turns.say(text)
  }

  /**
   * Queues a line, in order, until nothing is running. A line that is not for the agent goes back into the
   * prompt.
   */
  async queue(text: string): Promise<void> {
    const { commands, signal } = this.#options
    if (!isCommand(text) && this.#lines.isIdle)
      this.#queue(text) // synchronously: the next key may be in the same read
    else
      await this.#lines.run(async () => {
        const isForAgent = isCommand(text) && (await commands.isForAgent(text, signal).catch(() => false))
        this.#queue(text, isForAgent)
      })
  }

  #queue(text: string, isForAgent = false): void {
    const { store, turns } = this.#options
    if (!isForAgent && (isCommand(text) || text.startsWith('!') || isNote(text))) {
      const prompt = withReturned(store.get().prompt, [text])
      const hint = 'Commands cannot be queued: Enter runs this one now'
      store.act({ type: 'set', change: { prompt, hint } })
      return
    }
    this.#remember(text)
    turns.queue(text)
  }

  #remember(text: string): void {
    const { ports, store } = this.#options
    ports.rememberSent(text, findPasted(store.get().prompt, text)).catch(() => undefined) // the history is a convenience
  }

  async #shell(line: string, signal: AbortSignal): Promise<void> {
    const { store, ports, turns } = this.#options
    const addContext = (text: string) => turns.addContext(text)
    if (line !== '') await runShellLine(line, { ports, store, addContext }, signal)
  }

  async #note(line: string, signal: AbortSignal): Promise<void> {
    const { store, ports } = this.#options
    const { rememberNote } = await import('./note-line.ts')
    const { agent } = store.get()
    await rememberNote(line, { dispatch: ports.dispatch, agent, act: store.act }, signal)
  }
}

interface ShellContext {
  ports: Pick<ChatPorts, 'runShell'>
  store: Pick<ChatStore, 'get' | 'act'>
  /** Adds context for the agent. */
  addContext(text: string): void
}

/**
 * Runs the user's own command line. Its output is printed and sent to the agent with the next message. The line is
 * printed again above its result when something else was printed in between.
 */
async function runShellLine(
  line: string,
  { ports, store, addContext }: ShellContext,
  signal: AbortSignal,
): Promise<void> {
  const act = (action: ChatAction) => store.act(action)
  const report = (exitCode: number | undefined, output: string) =>
    addContext(wrapShellLine({ line, exitCode, output }))
  const printLine = () => act({ type: 'print', block: { kind: 'output', title: `$ ${line}` } })
  printLine()
  const { nextId } = store.get()
  const printResult = (...blocks: readonly Block[]) => {
    if (store.get().nextId !== nextId) printLine()
    for (const block of blocks) act({ type: 'print', block })
  }
  act({ type: 'set', change: { hint: 'Esc stops it' } })
  let newest = ''
  const show = (shellOutput: string) => {
    newest = shellOutput
    act({ type: 'set', change: { shellOutput } })
  }
  try {
    const { output, exitCode } = await ports.runShell(line, show, signal)
    const title = exitCode === 0 ? '' : `exit ${exitCode}`
    printResult({ kind: 'output', title, text: foldOutput(output) })
    report(exitCode, output)
  } catch (reason) {
    if (toCrabError(reason).kind !== 'cancelled') throw reason
    const shown: Block[] = newest === '' ? [] : [{ kind: 'output', title: '', text: `…\n${newest}` }]
    printResult(...shown, { kind: 'notice', tone: 'info', text: 'Interrupted' })
    report(undefined, newest) // what the command did so far is not undone
  } finally {
    act({ type: 'set', change: { hint: '', shellOutput: '' } })
  }
}
