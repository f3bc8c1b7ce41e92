import { newUlid } from '../../core/base/ids.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { AskKind, type AskUserEvent, type TurnOptions } from '../../core/protocol/crabtalk.generated.ts'
import type { ChatPorts, UntrustedServers } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'

interface SessionServerOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'servers'>
}

/** The turn options that concern MCP servers. */
export type ServerTurnOptions = Partial<Pick<TurnOptions, 'mcps' | 'noMcp'>>

/**
 * Finds the MCP servers of files for each message, and asks the user about files that are not trusted. The
 * question is a card of this window only: no agent asks it, and no daemon knows it.
 */
export class SessionServerTrust {
  readonly #options: SessionServerOptions
  /** The open questions by their id, with what an answer is passed to; undefined means "not this time". */
  readonly #pending = new Map<string, (answer: string | undefined) => void>()

  constructor(options: SessionServerOptions) {
    this.#options = options
  }

  /**
   * Returns the servers of the next turn of an agent, after the user has answered about every file. An abort
   * closes the question.
   */
  async find(agent: string, signal: AbortSignal): Promise<ServerTurnOptions> {
    const { store, ports } = this.#options
    if (classifySender(store.get().sender) !== 'local') return {}
    for (;;) {
      const { options, notes, unanswered } = await ports.servers.find(agent, signal)
      for (const { text, hint } of notes) {
        store.act({ type: 'print', block: { kind: 'notice', tone: 'warning', text, hint } })
      }
      if (!unanswered) return options
      const answer = await this.#ask(unanswered, signal)
      await ports.servers.answer(unanswered, ANSWERS.get(answer ?? ''), signal)
    }
  }

  /** Takes the answer to a question of this window; returns false for every other question. */
  answer(askId: string, answers: Readonly<Record<string, string>>): boolean {
    const resolve = this.#pending.get(askId)
    if (!resolve) return false
    const { store } = this.#options
    this.#pending.delete(askId)
    store.act({ type: 'ask-answered', askId })
    store.act({ type: 'ask-closed', closed: { askId, content: JSON.stringify(answers), by: '' } })
    resolve(Object.values(answers)[0])
    return true
  }

  /** Closes the open question without an answer, because the user leaves: its servers do not start. */
  close(): void {
    for (const [askId, resolve] of this.#pending) {
      this.#pending.delete(askId)
      this.#options.store.act({ type: 'ask-put-aside', askId })
      resolve(undefined)
    }
  }

  async #ask({ question }: UntrustedServers, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted()
    const { store } = this.#options
    const { agent, sender } = store.get()
    const ask: AskUserEvent = {
      askId: newUlid(),
      kind: AskKind.TRUST,
      questions: [{ question, header: 'MCP servers', options: [...OPTIONS], multiSelect: false }],
      permission: undefined,
    }
    const answered = Promise.withResolvers<string | undefined>()
    this.#pending.set(ask.askId, answered.resolve)
    store.act({ type: 'ask-opened', ask: { ask, agent, sender, session: '', runId: '', openedAt: '' } })
    const onAbort = () => this.close()
    signal.addEventListener('abort', onAbort, { once: true })
    const stop = store.subscribe(() => {
      const isOpen = store.get().asks.some(({ askId }) => askId === ask.askId)
      if (isOpen || !this.#pending.delete(ask.askId)) return
      answered.resolve(undefined) // the conversation was read again, and has no such question
    })
    try {
      const answer = await answered.promise
      signal.throwIfAborted()
      return answer
    } finally {
      stop()
      signal.removeEventListener('abort', onAbort)
    }
  }
}

const OPTIONS = [
  { label: 'Yes', description: 'Start them in your conversations here, until the file changes' },
  { label: 'No', description: 'Work here without them' },
] as const
const ANSWERS: ReadonlyMap<string, boolean> = new Map([
  ['Yes', true],
  ['No', false],
])
