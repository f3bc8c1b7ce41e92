import type { CallToolResult } from '@modelcontextprotocol/server'
import { toCrabError } from '../../core/base/errors.ts'
import type { AskUserEvent, DeepPartial, StreamMsg } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../core/protocol/dispatch.ts'
import { describeProgress } from './progress.ts'
import { TurnRecord } from './turn-record.ts'

/** What a turn is started with. */
export interface TurnOptions {
  dispatch: Dispatch
  message: DeepPartial<StreamMsg> & { agent: string; sender: string }
  /** What the host calls the conversation. */
  conversation: string
}

/** A question of a turn that is open. */
export interface OpenAsk {
  ask: AskUserEvent
  /** Aborted when nobody needs an answer any more. */
  closed: AbortSignal
}

/** A turn that runs for a host, whatever becomes of the call that began it. */
export interface ServedTurn {
  /** Told in a few words what happens, as long as somebody listens. */
  onProgress: ((words: string) => void) | undefined
  /** Waits for questions that are open, or for the end, when there are none. */
  next(): Promise<readonly OpenAsk[]>
  /** Answers a question; one that was answered elsewhere is left alone. */
  reply(ask: AskUserEvent, answers: Record<string, string>): Promise<void>
  /** The answer of the turn; resolves when it is over, however it ended. */
  readonly result: Promise<CallToolResult>
  /** Ends it. */
  cancel(reason: unknown): void
}

/** Starts a turn and follows it to its end. */
export function startTurn({ dispatch, message, conversation }: TurnOptions): ServedTurn {
  const { agent, sender } = message
  const stop = new AbortController()
  const record = new TurnRecord({ agent, conversation })
  const asks = new Map<string, { ask: AskUserEvent; closed: AbortController }>()
  let isOver = false
  let asked = Promise.withResolvers<void>()
  const turn: ServedTurn = {
    onProgress: undefined,
    async next() {
      while (!isOver && asks.size === 0) {
        await Promise.race([asked.promise, turn.result])
        asked = Promise.withResolvers()
      }
      return [...asks.values()].map(({ ask, closed }) => ({ ask, closed: closed.signal }))
    },
    async reply({ askId }, answers) {
      close(askId)
      const body = { agent, sender, askId, content: JSON.stringify(answers) }
      await request(dispatch, 'replyToAsk', body, stop.signal).catch((reason: unknown) => {
        if (!stop.signal.aborted && toCrabError(reason).kind !== 'missing') throw reason
      })
    },
    result: follow().then(
      () => record.toResult(undefined),
      (reason: unknown) => record.toResult(reason),
    ),
    cancel: (reason) => stop.abort(reason),
  }
  return turn

  async function follow(): Promise<void> {
    try {
      for await (const { event } of streamTurn(dispatch, message, stop.signal)) {
        if (!event) continue
        record.take(event)
        if (event.$case === 'askUser') open(event.value)
        if (event.$case === 'askClosed') close(event.value.askId)
        const words = describeProgress(event)
        if (words !== undefined) turn.onProgress?.(words)
      }
    } finally {
      isOver = true
      for (const askId of asks.keys()) close(askId)
    }
  }

  function open(ask: AskUserEvent): void {
    asks.set(ask.askId, { ask, closed: new AbortController() })
    asked.resolve()
  }

  function close(askId: string): void {
    asks.get(askId)?.closed.abort()
    asks.delete(askId)
  }
}
