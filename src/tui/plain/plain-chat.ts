import { toCrabError } from '../../core/base/errors.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { followAgentDefaults } from '../controller/agent-defaults.ts'
import { Controller } from '../controller/controller.ts'
import { type OpenContext, openInitialConversation } from '../controller/conversations.ts'
import { Feed } from '../controller/feed.ts'
import { SettingsSync } from '../controller/settings-sync.ts'
import { type Commands, isCommand, loadCommands, slashContext } from '../controller/slash.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import { type Farewell, toFarewell } from '../state/farewell.ts'
import { initialState } from '../state/initial.ts'
import { elsewhereText, isCurrent } from '../state/pending-asks.ts'
import { ChatStore } from '../state/store.ts'
import { EMPTY_PROMPT, fullPromptText } from '../text/prompt-state.ts'
import { cleanText } from '../view/clean.ts'
import { answerPrompt, overlayText, parseChosen } from './choices.ts'
import { LineQueue } from './line-queue.ts'
import { Printer } from './printer.ts'

/** The lines that can be an answer: a number or `?`; also `e`, which edits the call; any text. */
type AnswerKind = 'choice' | 'choice-or-edit' | 'words'

/** The input and output of a plain chat. */
export interface PlainIo {
  write(text: string): void
  /** Reads the next typed line, without its line break; undefined at the end of input (Ctrl-D). */
  readLine(signal: AbortSignal): Promise<string | undefined>
  /** Calls back on every Ctrl-C. */
  onInterrupt(listener: () => void): Disposable
  /**
   * Asks the user a question and returns the answers in the form that `reply_to_ask` takes, with the arguments
   * of a call that the user has changed.
   */
  converse(
    ask: AskUserEvent,
    asker: {
      agent: string
      /** Reads the next line that can be an answer; with `words`, any text is one. */
      readLine(signal: AbortSignal, kind: AnswerKind): Promise<string | undefined>
      /**
       * Resolves when the question has been on the screen long enough for an answer, with a choice that came
       * too early.
       */
      see(signal: AbortSignal): Promise<string>
    },
    signal: AbortSignal,
  ): Promise<{ answers: Readonly<Record<string, string>>; arguments?: string }>
  columns(): number
}

/**
 * Opens the chat as plain lines, for screen readers and terminals that cannot be drawn on. Resolves when the
 * user has left or the signal aborts, with what the user should know then.
 */
export async function openPlainChat(
  ports: ChatPorts,
  options: ChatOptions,
  io: PlainIo,
  signal: AbortSignal,
): Promise<Farewell> {
  const shutdown = new AbortController()
  const chat = new PlainChat({
    ports,
    options,
    io,
    signal: AbortSignal.any([signal, shutdown.signal]),
    shutdown,
  })
  try {
    await chat.run(options.prompt)
  } catch (reason) {
    if (!signal.aborted && !shutdown.signal.aborted) throw reason
  } finally {
    await chat.end()
  }
  return chat.farewell
}

interface PlainChatContext {
  ports: ChatPorts
  options: ChatOptions
  io: PlainIo
  signal: AbortSignal
  /** Aborted when the user leaves. */
  shutdown: AbortController
}

class PlainChat {
  readonly #context: PlainChatContext
  readonly #store: ChatStore
  readonly #printer: Printer
  readonly #controller: Controller
  readonly #feed: Feed
  readonly #commands: Commands
  readonly #lines: LineQueue
  readonly #open: OpenContext
  /** The questions that are being asked, by id. */
  readonly #asking = new Map<string, AbortController>()
  /** The last printed line about questions of other conversations. */
  #elsewhere = ''
  #isPrompted = false
  /** Whether the chat is reading a line at the prompt. */
  #isListening = false
  /** Whether another Ctrl-C at the idle prompt leaves. */
  #isLeaving = false
  #farewell: Farewell | undefined

  constructor(context: PlainChatContext) {
    const { ports, options, io, signal } = context
    this.#context = context
    this.#store = new ChatStore(initialState(options))
    this.#printer = new Printer({ store: this.#store, write: (text) => io.write(text), columns: io.columns })
    this.#lines = new LineQueue((reading) => io.readLine(reading), signal)
    const tapped = { ...ports, dispatch: this.#printer.tap(ports.dispatch) }
    this.#feed = new Feed({ store: this.#store, ports: tapped, signal })
    const leaveTurn = (stop: AbortSignal) => this.#controller.turns.leave(stop)
    this.#open = { store: this.#store, ports, feed: this.#feed, options, leaveTurn }
    this.#commands = loadCommands(
      slashContext(
        {
          ...this.#open,
          ports,
          rules: options.rules,
          send: (line, message) => this.#controller.turns.queuePrepared(line, message),
          say: (text) => this.#controller.turns.say(text),
          addContext: (text) => this.#controller.turns.addContext(text),
          putBack: (text, files) => this.#controller.pasted.putBack(text, files),
          showBlocks: async (_, blocks) => {
            for (const block of blocks) this.#store.act({ type: 'print', block })
          },
          leave: () => this.#controller.leave(),
        },
        signal,
      ),
    )
    this.#controller = new Controller({
      store: this.#store,
      ports: tapped,
      rules: options.rules,
      terminal: { lend: async (use) => use(), suspend: async () => {} },
      size: () => ({ columns: io.columns(), rows: Number.MAX_SAFE_INTEGER }),
      commands: this.#commands,
      feed: this.#feed,
      showTranscript: async () => {},
      leave: () => context.shutdown.abort(),
      signal,
    })
  }

  async run(prompt: string | undefined): Promise<void> {
    const { ports, options, io, signal } = this.#context
    const { agent, model = '', version } = options
    using _interrupts = io.onInterrupt(() => this.#interrupt())
    this.#store.subscribe(() => this.#show())
    const hint = '/help lists commands; Ctrl+C interrupts, Ctrl+D leaves'
    this.#store.act({
      type: 'print',
      block: { kind: 'welcome', agent, model, cwd: ports.shownCwd, version, hint },
    })
    const sync = new SettingsSync({ store: this.#store, ports }, signal)
    await this.#attempt(async () => sync.start(await ports.settings.read()))
    const opening = () => openInitialConversation(this.#open, options, signal)
    if (options.session === undefined) await this.#attempt(opening)
    else await opening() // fails rather than open a conversation that was not requested
    await followAgentDefaults({ store: this.#store, ports }, signal).catch(() => undefined) // its turns report the reason
    if (prompt !== undefined) this.#controller.do({ type: 'submit', text: prompt })
    for (;;) {
      this.#isListening = true
      this.#show()
      const line = await this.#lines.read(signal)
      this.#isListening = false
      this.#isPrompted = false
      this.#isLeaving = false
      if (line === undefined) return
      this.#printer.lineEnded()
      await this.#take(line)
    }
  }

  /** The facts that the user should know after leaving. */
  get farewell(): Farewell {
    return this.#farewell ?? toFarewell(this.#store.get())
  }

  async end(): Promise<void> {
    this.#farewell = toFarewell(this.#store.get())
    await this.#controller.end()
    this.#context.shutdown.abort()
    this.#printer.printFinished()
    this.#printer.endLine()
    this.#store[Symbol.dispose]()
  }

  async #take(line: string): Promise<void> {
    if (!isCommand(line)) return this.#controller.do({ type: 'submit', text: line })
    const { ports, signal } = this.#context
    ports.rememberSent(line).catch(() => undefined) // the history is a convenience
    await this.#attempt(() => this.#commands.run(line, signal))
    await this.#choose()
  }

  /**
   * Prints the open overlays: a list is printed with numbers to choose from, a page with its keys if it has
   * any.
   */
  async #choose(): Promise<void> {
    const { signal } = this.#context
    for (let { overlay } = this.#store.get(); overlay; overlay = this.#store.get().overlay) {
      const back = overlay.kind === 'page' ? overlay.back : undefined
      this.#printer.print(overlayText(overlay))
      this.#store.act({ type: 'set', change: { overlay: back } })
      const ask = answerPrompt(overlay)
      if (ask === undefined) continue
      this.#printer.print(ask)
      const line = await this.#lines.read(signal)
      this.#printer.lineEnded()
      const chosen = line === undefined ? undefined : parseChosen(line, overlay)
      if (chosen) await this.#attempt(() => this.#commands.chosen(chosen, signal))
    }
  }

  /**
   * Prints what has changed: finished blocks, a question, the hint, and the prompt when it is the user's
   * turn.
   */
  #show(): void {
    this.#printer.printFinished()
    const { hint, prompt, turn, asks } = this.#store.get()
    if (hint !== '') {
      this.#store.act({ type: 'set', change: { hint: '' } })
      this.#printer.print(`${cleanText(hint)}\n`)
    }
    if (prompt.text !== '') {
      this.#store.act({ type: 'set', change: { prompt: EMPTY_PROMPT } })
      this.#printer.print(`Not sent: ${cleanText(fullPromptText(prompt))}\n`)
    }
    this.#closeQuestions()
    if (this.#context.signal.aborted) return // a user who has left is not asked anything
    this.#showElsewhere()
    const next = asks.find((card) => isCurrent(this.#store.get(), card) && !card.isAnswered)
    if (next && !this.#asking.has(next.askId)) void this.#ask(next)
    const isIdle = this.#isListening && !turn && !asks.some((card) => isCurrent(this.#store.get(), card))
    if (!isIdle) this.#isPrompted = false
    else if (!this.#isPrompted || !this.#printer.isLineOpen) {
      this.#printer.print('\n> ')
      this.#isPrompted = true
    }
  }

  #closeQuestions(): void {
    const waiting = new Set(this.#store.get().asks.map(({ askId }) => askId))
    for (const [askId, closing] of this.#asking) if (!waiting.has(askId)) closing.abort()
  }

  /** Prints one line about questions of other conversations, once. */
  #showElsewhere(): void {
    const text = elsewhereText(this.#store.get())
    if (text !== '' && text !== this.#elsewhere) this.#printer.print(`${cleanText(text)}\n`)
    this.#elsewhere = text
  }

  /** Reads the next line that can be an answer. Other lines are handled as messages, commands, and so on. */
  async #readAnswer(signal: AbortSignal, kind: AnswerKind): Promise<string | undefined> {
    for (;;) {
      const line = await this.#lines.readFresh(signal)
      if (line === undefined || kind === 'words' || isChoice(line, kind)) return line
      this.#printer.lineEnded()
      await this.#takeBeside(line)
    }
  }

  /**
   * Waits until the user has had time to see a question. A choice typed meanwhile is returned and answers
   * nothing; other lines are handled as messages.
   */
  async #see(signal: AbortSignal): Promise<string> {
    const seen = AbortSignal.timeout(MIN_QUESTION_MS)
    const until = AbortSignal.any([signal, seen])
    let early = ''
    while (!until.aborted) {
      const line = await this.#lines.readFresh(until).catch(() => '')
      if (line === undefined) break // the end of input is an answer, too
      if (line.trim() === '') continue
      this.#printer.lineEnded()
      if (isChoice(line, 'choice-or-edit')) early = `${line}\n`
      else await this.#takeBeside(line)
    }
    signal.throwIfAborted()
    return early
  }

  /** Handles a line typed while a question is pending, and says that a message is not an answer. */
  async #takeBeside(line: string): Promise<void> {
    if (line.trim() === '') return
    await this.#take(line)
    if (!isCommand(line) && !/^[!#]/.test(line)) this.#printer.print(BESIDE)
  }

  async #ask({ askId, agent, ask }: { askId: string; agent: string; ask: AskUserEvent }): Promise<void> {
    const { io, signal } = this.#context
    const closing = new AbortController()
    this.#asking.set(askId, closing)
    const asking = AbortSignal.any([closing.signal, signal])
    await this.#attempt(async () => {
      this.#printer.endLine()
      const readLine: Asker['readLine'] = (reading, kind) => this.#readAnswer(reading, kind)
      const see = async (until: AbortSignal) => {
        const early = await this.#see(until)
        this.#store.act({ type: 'card-armed', askId }) // the user has seen it: an answer elsewhere is reported
        return early
      }
      const reply = await io.converse(ask, { agent, readLine, see }, asking)
      this.#printer.lineEnded()
      this.#controller.do({ type: 'answer', askId, ...reply })
    })
    this.#asking.delete(askId)
    this.#show()
  }

  #interrupt(): void {
    if (this.#controller.turns.isBusy) this.#controller.turns.interrupt()
    else if (this.#isLeaving) this.#context.shutdown.abort()
    else {
      this.#isLeaving = true
      this.#printer.print('Ctrl+C again leaves\n')
      this.#isPrompted = false
      this.#show()
    }
  }

  /** Runs an action and prints its failure in the chat. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      if (this.#context.signal.aborted || kind === 'cancelled') return
      this.#store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text: message, hint } })
    }
  }
}

type Asker = Parameters<PlainIo['converse']>[1]

/** The time, in milliseconds, that a question is on the screen before a line answers it. */
const MIN_QUESTION_MS = 1_000

const BESIDE = 'Sent to the agent as a message; the question is still waiting for a number\n'

/** Whether a line can be a choice: `?`, only numbers, or the key that edits a call. Every other line is text. */
function isChoice(line: string, kind: AnswerKind): boolean {
  if (kind === 'choice-or-edit' && line.trim() === 'e') return true
  return /^(?:\?|\d+(?:[\s,]+\d+)*)$/.test(line.trim())
}
