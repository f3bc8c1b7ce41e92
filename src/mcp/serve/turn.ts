import type { CallToolResult } from '@modelcontextprotocol/server'
import { toCrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type {
  AskUserEvent,
  DeepPartial,
  StreamMsg,
  ToolCallInfo,
} from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../core/protocol/dispatch.ts'
import { type OpenAsk, OpenAsks } from '../../core/protocol/open-asks.ts'
import { foldTurnEvent, newTurnFold, type WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import { toCallResult } from './call-result.ts'

/** The options of `startTurn()`. */
export interface TurnOptions {
  dispatch: Dispatch
  message: DeepPartial<StreamMsg> & { agent: string; sender: string }
  /** The host's name for the conversation. */
  conversation: string
}

/** A turn that runs for a host and outlives the call that started it. */
export interface ServedTurn {
  /** Receives a short description of each event; undefined while nothing listens. */
  onProgress: ((words: string) => void) | undefined
  /** Waits for open questions, or for the end of the turn, at which it returns none. */
  next(): Promise<readonly OpenAsk[]>
  /** Answers a question; does nothing for one that was answered elsewhere. */
  reply(ask: AskUserEvent, answers: Record<string, string>): Promise<void>
  /** Resolves with the result when the turn is over, however it ended. */
  readonly result: Promise<CallToolResult>
  /** Cancels the turn. */
  cancel(reason: unknown): void
}

/** Starts a turn and follows it to its end. */
export function startTurn({ dispatch, message, conversation }: TurnOptions): ServedTurn {
  const { agent, sender } = message
  const stop = new AbortController()
  const state = newTurnFold()
  const toResult = (failure?: unknown) => toCallResult(state, { agent, conversation }, failure)
  const asks = new OpenAsks()
  let isOver = false
  let newAsk = Promise.withResolvers<void>()
  const turn: ServedTurn = {
    onProgress: undefined,
    async next() {
      while (!isOver && asks.size === 0) {
        await Promise.race([newAsk.promise, turn.result])
        newAsk = Promise.withResolvers()
      }
      return [...asks]
    },
    async reply({ askId }, answers) {
      asks.close(askId)
      const body = { agent, sender, askId, content: JSON.stringify(answers) }
      await request(dispatch, 'replyToAsk', body, stop.signal).catch((reason: unknown) => {
        if (!stop.signal.aborted && toCrabError(reason).kind !== 'missing') throw reason
      })
    },
    result: follow().then(() => toResult(), toResult),
    cancel: (reason) => stop.abort(reason),
  }
  return turn

  async function follow(): Promise<void> {
    try {
      for await (const { event } of streamTurn(dispatch, message, stop.signal)) {
        if (!event) continue
        foldTurnEvent(state, event)
        if (asks.apply(event)) newAsk.resolve()
        const words = describeProgress(event)
        if (words !== undefined) turn.onProgress?.(words)
      }
    } finally {
      isOver = true
    }
  }
}

/**
 * Describes an event of a turn in one line for the host's progress; undefined for events that are not
 * reported.
 */
function describeProgress(event: WireTurnEvent): string | undefined {
  switch (event.$case) {
    case 'start':
      return `${event.value.agent} works`
    case 'thinkingStart':
      return 'thinks'
    case 'textStart':
      return 'answers'
    case 'toolStart':
      return inLine(event.value.calls.map(describeCall).join(', '))
    case 'toolProgress':
      return inLine(event.value.message)
    case 'askUser':
      return inLine(`asks: ${event.value.questions[0]?.question ?? ''}`)
    case 'retry':
      return inLine(`retrying: ${event.value.message}`)
    case 'notice':
      return inLine(event.value.message)
    default:
      return undefined
  }
}

/** Formats a call with the first string among its arguments: `bash(git status)`. */
function describeCall({ name, arguments: text }: ToolCallInfo): string {
  const first = Object.values(parseObject(text) ?? {}).find((value) => typeof value === 'string')
  return first === undefined ? name : `${name}(${takeStart(first.split('\n', 1)[0]!, MAX_ARGUMENT)})`
}

function inLine(text: string): string {
  return takeStart(sanitizeLine(text).toWellFormed(), MAX_LINE)
}

const MAX_ARGUMENT = 80
const MAX_LINE = 300
