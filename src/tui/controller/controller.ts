import type { ChatSettings } from '../../core/base/chat-settings.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { type Keymap, makeKeymap } from '../../core/keys/bindings.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { isEntered, isWriting } from '../cards/card.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { ChatAction } from '../state/actions.ts'
import { getFocus, getVisibleCard, isDelicate } from '../state/focus.ts'
import { cycleMode } from '../state/modes.ts'
import type { ChatStore } from '../state/store.ts'
import type { ChatState } from '../state/types.ts'
import type { ChatEffect } from '../text/effects.ts'
import type { KeyPress } from '../text/key.ts'
import { toKnownKey } from '../text/key-command.ts'
import { fullPromptText, type PromptContext, withEdited, withSent } from '../text/prompt-state.ts'
import type { Tone } from '../view/blocks.ts'
import { renderPrompt } from '../view/prompt.ts'
import type { Room } from '../view/view.ts'
import { type Arming, type ArmingTimer, cardArming, overlayArming, processTimer } from './arming.ts'
import { Completer } from './completer.ts'
import type { Feed } from './feed.ts'
import { Jobs } from './jobs.ts'
import { LiveSearch } from './live-search.ts'
import { PastedFiles } from './message.ts'
import { press } from './press.ts'
import type { Commands } from './slash.ts'
import { LineSubmitter } from './submit-line.ts'
import { Turns } from './turns.ts'

/** Operations on the terminal other than drawing. */
export interface TerminalControl {
  /** Gives the terminal to `use` until it returns, then redraws everything. */
  lend(use: () => void | Promise<void>): Promise<void>
  /** Stops this process until it is continued, as Ctrl-Z does. */
  suspend(): Promise<void>
}

export interface ControllerOptions {
  store: ChatStore
  ports: ChatPorts
  rules: ChatOptions['rules']
  terminal: TerminalControl
  /** Returns the current size of the terminal. */
  size(): { columns: number; rows: number }
  commands: Commands
  feed: Feed
  /** Shows the whole conversation until the user closes it. */
  showTranscript(): Promise<void>
  /** Leaves the chat, at the user's request. */
  leave(): void
  /** The timer that decides when keys may choose options on a card; by default that of this process. */
  timer?: ArmingTimer
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/** Carries out what keys request. Only the controller talks to agents and to the machine. */
export class Controller {
  readonly #options: ControllerOptions
  readonly pasted = new PastedFiles()
  readonly turns: Turns
  readonly #overlays: Arming<true>
  readonly #cards: Arming<string>
  readonly #jobs: Jobs
  readonly #search: LiveSearch
  #relaxing: ReturnType<typeof setTimeout> | undefined
  readonly #completer: Completer
  readonly #submitter: LineSubmitter
  /** The key table, and the settings that it was made of. */
  #keys: { settings: ChatSettings; keymap: Keymap } | undefined
  /** The size of the last frame. */
  #drawnSize: string | undefined
  /** Whether the last key asked to leave. */
  #isLeaving = false
  /** Whether the user has asked to leave by a command. */
  #hasQuit = false

  constructor(options: ControllerOptions) {
    this.#options = options
    this.turns = new Turns({ ...options, pasted: this.pasted })
    this.#jobs = new Jobs(options.store, options.signal)
    this.#search = new LiveSearch(options)
    const { store, timer = processTimer, signal } = options
    this.#overlays = overlayArming({ store, timer: processTimer }, signal)
    this.#cards = cardArming({ store, timer, enter: () => this.#press([ENTER], true) }, signal)
    this.#completer = new Completer(options)
    this.#submitter = new LineSubmitter({
      ...options,
      turns: this.turns,
      run: (work) => this.#run(work),
      command: (work) => this.#command(work),
    })
  }

  /**
   * Returns the context that the prompt needs to interpret a key, or to be drawn with a state that is older
   * than the current one.
   */
  context(state: ChatState = this.#options.store.get()): PromptContext {
    const { size } = this.#options
    const { turn } = state
    const card = getVisibleCard(state)
    return {
      isBusy: turn !== undefined,
      isCancelling: turn?.isCancelling ?? false,
      columns: size().columns,
      keymap: this.#keymap(),
      commands: this.#completer.commands,
      ...(card && { placeholder: isWriting(card) ? 'Your reply to the agent' : 'Or type a message' }),
      ...(card && isWriting(card) && { isAnswer: true }),
    }
  }

  /** Returns the key table of the current settings. */
  #keymap(): Keymap {
    const { settings } = this.#options.store.get()
    if (this.#keys?.settings !== settings) this.#keys = { settings, keymap: makeKeymap(settings) }
    return this.#keys.keymap
  }

  /** Handles the keys that arrived in one read: a key, a pasted text, or several keys. */
  readonly keys = (typed: readonly KeyPress[]): void => {
    const { store } = this.#options
    const keymap = this.#keymap()
    const keys = typed.map((key) => toKnownKey(key, keymap))
    const pieces = isDelicate(getFocus(store.get())) ? [keys] : keys.map((key) => [key])
    const isAlone = keys.length === 1
    for (const piece of pieces) {
      this.#overlays.touched()
      const wasEntered = this.#isEntered
      this.#press(piece, isAlone)
      if (!(wasEntered && this.#isEntered) && !isPaging(piece)) this.#cards.touched()
    }
    this.#relaxLater()
  }

  /** Whether the visible card waits only for the end of the pause; more Enters do not prolong it. */
  get #isEntered(): boolean {
    const card = getVisibleCard(this.#options.store.get())
    return card !== undefined && isEntered(card)
  }

  #press(piece: readonly KeyPress[], isAlone: boolean): void {
    const { store, size } = this.#options
    const around = { prompt: this.context(), room: size(), promptRows: this.#promptRows(), isAlone }
    const { actions, effects } = press(store.get(), piece, around)
    for (const action of actions) store.act(action)
    if (effects.every(({ type }) => type !== 'leave')) this.#isLeaving = false
    if (effects.some((effect) => effect.type === 'submit' && !QUIT.test(effect.text))) this.#hasQuit = false
    for (const effect of effects) this.do(effect)
  }

  /** Handles a new terminal size: a visible card must be seen again before it takes keys. */
  resized({ columns, rows }: Room): void {
    const size = `${columns}x${rows}`
    if (this.#drawnSize !== undefined && this.#drawnSize !== size) this.#cards.redrawn()
    this.#drawnSize = size
  }

  /**
   * Returns the number of lines of the composer, which a card leaves free. Counted only when there is a card.
   */
  #promptRows(): number {
    const state = this.#options.store.get()
    if (!getVisibleCard(state)) return 1
    const view = { ...this.#options.size(), color: false, details: false }
    const { text, below } = renderPrompt(state.prompt, this.context(), view)
    return text.lines.length + below.lines.length
  }

  /** Clears "again to leave" after a moment. */
  #relaxLater(): void {
    const { store } = this.#options
    clearTimeout(this.#relaxing)
    if (store.get().prompt.armed === undefined) return
    this.#relaxing = setTimeout(() => {
      store.act({ type: 'set', change: { prompt: { ...store.get().prompt, armed: undefined } } })
    }, REPEAT_KEY_MS)
  }

  /** Opens the first conversation. Messages wait until it is open, and no key interrupts it. */
  open(opened: Promise<void>): Promise<void> {
    this.turns.wait(opened)
    return opened
  }

  /** Interrupts what is running and resolves when it has ended. */
  async end(): Promise<void> {
    clearTimeout(this.#relaxing)
    await Promise.all([this.turns.end(), this.#jobs.end()])
  }

  /** Carries out an effect; failures are printed in the chat. */
  do(effect: ChatEffect): void {
    this.#perform(effect).catch((reason) => {
      const { kind, message, hint } = toCrabError(reason)
      if (kind !== 'cancelled') this.#notify('error', message, hint)
    })
  }

  async #perform(effect: ChatEffect): Promise<void> {
    const { store, terminal, commands } = this.#options
    const { act } = store
    switch (effect.type) {
      case 'submit':
        return this.#submitter.submit(effect.text)
      case 'queue':
        return this.#submitter.queue(effect.text)
      case 'take-queue-back':
        return act({ type: 'queue-taken-back' })
      case 'interrupt':
        return this.#interrupt()
      case 'leave':
        return this.#leave()
      case 'suspend':
        return terminal.suspend()
      case 'redraw':
        return terminal.lend(() => {})
      case 'edit-externally':
        return terminal.lend(() => this.#edit())
      case 'paste':
        return this.#paste()
      case 'complete':
        return this.#completer.complete(effect)
      case 'cycle-mode':
        return act({ type: 'set', change: cycleMode(store.get()) })
      case 'toggle-thinking':
        return this.#toggle('thinking')
      case 'toggle-details':
        return this.#toggle('details')
      case 'open-transcript':
        return terminal.lend(() => this.#options.showTranscript())
      case 'answer':
        return this.#answer(effect)
      case 'chosen':
        return this.#command((stop) => commands.chosen(effect, stop))
      case 'command':
        return this.#command((stop) => commands.run(effect.line, stop))
      case 'open-search':
        return this.#search.open(effect.scope, effect.query)
      case 'search':
        return this.#search.look(effect.isTyped)
      case 'insert':
        return act({ type: 'set', change: { prompt: withSent(store.get().prompt, effect.text) } })
    }
  }

  /** Leaves by a command. A turn in this process would end with it, so leaving then takes a second command. */
  readonly leave = (): void => {
    if (this.#isLost && !this.#hasQuit) {
      this.#hasQuit = true
      this.#hint(`${LOST}, or type /quit again to cancel it`)
    } else this.#options.leave()
  }

  /** Whether turns would end with this process. */
  get #isLost(): boolean {
    const isRunning = this.turns.isBusy || this.turns.hasLeftTurns
    return isRunning && this.#options.store.get().place === 'process'
  }

  /** Leaves by a key; while turns would end with this process, the key must be pressed twice. */
  #leave(): void {
    if (this.#isLost && !this.#isLeaving) {
      this.#isLeaving = true
      this.#hint(`${LOST}, or press Ctrl+D again to cancel it`)
    } else this.#options.leave()
  }

  /** Runs a slash command. Esc interrupts it while no turn runs. */
  async #command(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#overlays.awaited()
    await this.#run(work)
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const ended = this.#jobs.run(work)
    this.turns.wait(ended)
    if ((await ended) === 'interrupted') this.#notify('info', 'Interrupted')
  }

  #interrupt(): void {
    if (this.turns.isBusy) this.turns.interrupt()
    else this.#jobs.interrupt()
  }

  async #edit(): Promise<void> {
    const { store, ports } = this.#options
    const before = store.get().prompt
    const edited = await ports.editText(fullPromptText(before))
    if (edited === undefined) return
    store.act({ type: 'set', change: { prompt: withEdited(before, store.get().prompt, edited) } })
  }

  async #paste(): Promise<void> {
    const pasted = await this.#options.ports.paste(this.#options.signal)
    if (pasted === undefined)
      return this.#hint('The clipboard has neither text nor an image, or cannot be read')
    if (typeof pasted === 'string') return this.keys([{ ...PASTE, text: pasted }])
    this.keys([{ ...PASTE, text: this.pasted.add(pasted) }])
  }

  #toggle(what: 'thinking' | 'details'): void {
    const { store } = this.#options
    const on = !store.get()[what]
    store.act({ type: 'set', change: { [what]: on } })
    this.#hint(TOGGLE_MESSAGES[what][on ? 1 : 0])
  }

  async #answer({ askId, answers, arguments: args }: ChatEffect & { type: 'answer' }): Promise<void> {
    const { store, ports, signal } = this.#options
    const { agent, sender } = store.get()
    if (this.turns.answer(askId, answers)) return
    const content = JSON.stringify(answers)
    const changed = args === undefined ? {} : { arguments: args }
    store.act({ type: 'ask-answered', askId, ...changed })
    try {
      await request(ports.dispatch, 'replyToAsk', { agent, sender, askId, content, ...changed }, signal)
    } catch (reason) {
      store.act({ type: 'ask-answered', askId, isReverted: true })
      if (toCrabError(reason).kind !== 'missing') throw reason
      store.act({ type: 'ask-put-aside', askId })
      this.#hint('Already answered in another window')
    }
  }

  #hint(text: string): void {
    this.#options.store.act({ type: 'set', change: { hint: text } })
  }

  #notify(tone: Tone, text: string, hint?: string): void {
    const action: ChatAction = { type: 'print', block: { kind: 'notice', tone, text, hint } }
    this.#options.store.act(action)
  }
}

const QUIT = /^\/(quit|exit)\s*$/
const LOST = 'A turn is running in this process: wait until it ends'

/** The time, in milliseconds, within which a key counts as pressed again. */
const REPEAT_KEY_MS = 2_000

const TOGGLE_MESSAGES = {
  thinking: ['Thinking is off, from the next message on', 'Thinking is on, from the next message on'],
  details: ['Tool calls are shown as one line', 'Tool calls show their input and output'],
} as const

/** Whether a key only scrolls or moves the caret, which is not typing. */
function isPaging([key]: readonly KeyPress[]): boolean {
  return key !== undefined && SCROLL_KEYS.has(key.name)
}

const SCROLL_KEYS: ReadonlySet<string> = new Set(['page-up', 'page-down', 'home', 'end'])

const ENTER = { name: 'enter', text: '', ctrl: false, alt: false, shift: false } as const

const PASTE = { name: 'paste', ctrl: false, alt: false, shift: false } as const
