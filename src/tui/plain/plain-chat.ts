import { toCrabError } from '../../core/base/errors.ts'
import type { AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'
import { Controller } from '../controller/controller.ts'
import { openInitialConversation } from '../controller/conversations.ts'
import { Feed } from '../controller/feed.ts'
import { type Commands, isCommand, loadCommands, slashContext } from '../controller/slash.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import { initialState } from '../state/initial.ts'
import { elsewhereText, isCurrent } from '../state/is-current.ts'
import { ChatStore } from '../state/store.ts'
import { type Unanswered, unansweredAsks } from '../state/unanswered.ts'
import { EMPTY_PROMPT, promptText } from '../text/prompt.ts'
import { cleanText } from '../view/clean.ts'
import { answerPrompt, overlayText, parseChosen } from './choices.ts'
import { LineQueue } from './line-queue.ts'
import { Printer } from './printer.ts'

/** How a plain chat meets a person: lines in, text out. */
export interface PlainIo {
  write(text: string): void
  /** The next line that is typed, without its end; undefined at the end of input (Ctrl-D). */
  readLine(signal: AbortSignal): Promise<string | undefined>
  /** Calls back for every Ctrl-C. */
  onInterrupt(listener: () => void): Disposable
  /** Puts a question to the person; gives the answers as reply_to_ask takes them. */
  converse(
    ask: AskUserEvent,
    asker: {
      agent: string
      /** The next line that can be an answer; `words` where any text is one. */
      readLine(signal: AbortSignal, kind: 'choice' | 'words'): Promise<string | undefined>
      /** Resolves when the question has been on the screen long enough for an answer, with a choice that came too soon. */
      see(signal: AbortSignal): Promise<string>
    },
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>>
  columns(): number
}

/**
 * The chat as plain lines, for screen readers and terminals that cannot be drawn on. Resolves when
 * the person has left, or the signal is aborted, with the questions that have no answer by then.
 */
export async function openPlainChat(
  ports: ChatPorts,
  options: ChatOptions,
  io: PlainIo,
  signal: AbortSignal,
): Promise<Unanswered | undefined> {
  const over = new AbortController()
  const chat = new PlainChat({ ports, options, io, signal: AbortSignal.any([signal, over.signal]), over })
  try {
    await chat.run(options.prompt)
  } catch (reason) {
    if (!signal.aborted && !over.signal.aborted) throw reason
  } finally {
    await chat.end()
  }
  return chat.unanswered
}

interface PlainChatContext {
  ports: ChatPorts
  options: ChatOptions
  io: PlainIo
  signal: AbortSignal
  /** Aborted when the person leaves. */
  over: AbortController
}

class PlainChat {
  readonly #context: PlainChatContext
  readonly #store: ChatStore
  readonly #printer: Printer
  readonly #controller: Controller
  readonly #feed: Feed
  readonly #commands: Commands
  readonly #lines: LineQueue
  readonly #open = new Map<string, AbortController>()
  /** The last line about questions of other conversations. */
  #elsewhere = ''
  #isPrompted = false
  /** Somebody waits at the prompt. */
  #isListening = false
  /** Ctrl-C at an idle prompt leaves. */
  #isLeaving = false
  /** The questions that had no answer when the chat was left. */
  unanswered: Unanswered | undefined

  constructor(setting: PlainChatContext) {
    const { ports, options, io, signal } = setting
    this.#context = setting
    this.#store = new ChatStore(initialState(options))
    this.#printer = new Printer({ store: this.#store, write: (text) => io.write(text), columns: io.columns })
    this.#lines = new LineQueue((reading) => io.readLine(reading), signal)
    const tapped = { ...ports, dispatch: this.#printer.tap(ports.dispatch) }
    this.#feed = new Feed({ store: this.#store, ports: tapped, signal })
    this.#commands = loadCommands(
      slashContext(
        {
          store: this.#store,
          ports,
          rules: options.rules,
          feed: this.#feed,
          send: (line, message) => this.#controller.turns.queuePrepared(line, message),
          say: (text) => this.#controller.turns.say(text),
          leave: () => setting.over.abort(),
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
      leave: () => setting.over.abort(),
      signal,
    })
  }

  async run(prompt: string | undefined): Promise<void> {
    const { ports, options, io, signal } = this.#context
    const { agent, model = '', version } = options
    using _interrupts = io.onInterrupt(() => this.#interrupt())
    this.#store.subscribe(() => this.#show())
    const hint = '/help lists commands; Ctrl-C interrupts, Ctrl-D leaves'
    this.#store.act({
      type: 'print',
      block: { kind: 'welcome', agent, model, cwd: ports.shownCwd, version, hint },
    })
    const setting = { store: this.#store, ports, feed: this.#feed }
    const opening = () => openInitialConversation(setting, options, signal)
    if (options.session === undefined) await this.#attempt(opening)
    else await opening() // another conversation than the one that was asked for would be a surprise
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

  async end(): Promise<void> {
    this.unanswered = unansweredAsks(this.#store.get())
    await this.#controller.end()
    this.#context.over.abort()
    this.#printer.printFinished()
    this.#printer.endLine()
    this.#store[Symbol.dispose]()
  }

  async #take(line: string): Promise<void> {
    if (!isCommand(line)) return this.#controller.do({ type: 'submit', text: line })
    const { ports, signal } = this.#context
    ports.rememberSent(line).catch(() => undefined) // a convenience, and nobody's business
    await this.#attempt(() => this.#commands.run(line, signal))
    await this.#choose()
  }

  /** What can be chosen from is a list with numbers; a page is printed, and answered where something can be done with it. */
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

  /** Shows what has changed: what is finished, a question, the hint, and when it is a person's turn the prompt. */
  #show(): void {
    this.#printer.printFinished()
    const { hint, prompt, turn, asks } = this.#store.get()
    if (hint !== '') {
      this.#store.act({ type: 'set', change: { hint: '' } })
      this.#printer.print(`${cleanText(hint)}\n`)
    }
    if (prompt.text !== '') {
      this.#store.act({ type: 'set', change: { prompt: EMPTY_PROMPT } })
      this.#printer.print(`Not sent: ${cleanText(promptText(prompt))}\n`)
    }
    this.#closeQuestions()
    if (this.#context.signal.aborted) return // nothing is asked of a person who has left
    this.#showElsewhere()
    const next = asks.find((card) => isCurrent(this.#store.get(), card) && !card.isAnswered)
    if (next && !this.#open.has(next.askId)) void this.#ask(next)
    const isIdle = this.#isListening && !turn && !asks.some((card) => isCurrent(this.#store.get(), card))
    if (!isIdle) this.#isPrompted = false
    else if (!this.#isPrompted || !this.#printer.isLineOpen) {
      this.#printer.print('\n> ')
      this.#isPrompted = true
    }
  }

  #closeQuestions(): void {
    const waiting = new Set(this.#store.get().asks.map(({ askId }) => askId))
    for (const [askId, closing] of this.#open) if (!waiting.has(askId)) closing.abort()
  }

  /** Questions of other conversations are one line, said once. */
  #showElsewhere(): void {
    const text = elsewhereText(this.#store.get())
    if (text !== '' && text !== this.#elsewhere) this.#printer.print(`${cleanText(text)}\n`)
    this.#elsewhere = text
  }

  /** The next line that can be an answer; other lines are messages, or whatever they are without a question. */
  async #readAnswer(signal: AbortSignal, kind: 'choice' | 'words'): Promise<string | undefined> {
    for (;;) {
      const line = await this.#lines.readFresh(signal)
      if (line === undefined || kind === 'words' || isChoice(line)) return line
      this.#printer.lineEnded()
      await this.#takeBeside(line)
    }
  }

  /** Lets a question be seen: a choice that comes meanwhile is returned and answers nothing; other lines are messages. */
  async #see(signal: AbortSignal): Promise<string> {
    const seen = AbortSignal.timeout(MIN_QUESTION_MS)
    const until = AbortSignal.any([signal, seen])
    let early = ''
    while (!until.aborted) {
      const line = await this.#lines.readFresh(until).catch(() => '')
      if (line === undefined) break // the end of input answers, too
      if (line.trim() === '') continue
      this.#printer.lineEnded()
      if (isChoice(line)) early = `${line}\n`
      else await this.#takeBeside(line)
    }
    signal.throwIfAborted()
    return early
  }

  /** Takes a line that is typed while a question waits, and says that a message answers nothing. */
  async #takeBeside(line: string): Promise<void> {
    if (line.trim() === '') return
    await this.#take(line)
    if (!isCommand(line) && !/^[!#]/.test(line)) this.#printer.print(BESIDE)
  }

  async #ask({ askId, agent, ask }: { askId: string; agent: string; ask: AskUserEvent }): Promise<void> {
    const { io, signal } = this.#context
    const closing = new AbortController()
    this.#open.set(askId, closing)
    const asking = AbortSignal.any([closing.signal, signal])
    await this.#attempt(async () => {
      this.#printer.endLine()
      const readLine: Asker['readLine'] = (reading, kind) => this.#readAnswer(reading, kind)
      const answers = await io.converse(ask, { agent, readLine, see: (until) => this.#see(until) }, asking)
      this.#printer.lineEnded()
      this.#controller.do({ type: 'answer', askId, answers })
    })
    this.#open.delete(askId)
    this.#show()
  }

  #interrupt(): void {
    if (this.#controller.turns.isBusy) this.#controller.turns.interrupt()
    else if (this.#isLeaving) this.#context.over.abort()
    else {
      this.#isLeaving = true
      this.#printer.print('Ctrl-C again leaves\n')
      this.#isPrompted = false
      this.#show()
    }
  }

  /** Does something; why it cannot is told in the chat. */
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

/** The time in milliseconds that a question is on the screen before a line answers it. */
const MIN_QUESTION_MS = 1_000

const BESIDE = 'Sent to the agent as a message; the question still waits for a number\n'

/** A line that can choose: `?`, or nothing but numbers. Everything else is text. */
function isChoice(line: string): boolean {
  return /^(?:\?|\d+(?:[\s,]+\d+)*)$/.test(line.trim())
}
