import { CrabError } from '../../core/base/errors.ts'
import type { AskInfo, AskUserEvent } from '../../core/protocol/crabtalk.generated.ts'

/** A pending question. */
export interface WaitingAsk extends AskInfo {
  ask: AskUserEvent
}

/** Converts the asks of a reply to pending questions, without those that have no question. */
export function toWaitingAsks(asks: readonly AskInfo[]): WaitingAsk[] {
  return asks.flatMap((info) => (info.ask ? [{ ...info, ask: info.ask }] : []))
}

/**
 * Finds the question whose id equals, starts with or ends with a word. Throws `missing` when there is none,
 * `conflict` when there are several.
 */
export function findAsk(asks: readonly WaitingAsk[], word: string): WaitingAsk {
  const id = word.toUpperCase()
  const exact = asks.find(({ ask }) => ask.askId === word || ask.askId === id)
  if (exact) return exact
  const found =
    id === '' ? [] : asks.filter(({ ask: { askId } }) => askId.startsWith(id) || askId.endsWith(id))
  const [only] = found
  if (only && found.length === 1) return only
  if (only) {
    throw new CrabError('conflict', `Cannot choose: the ids of ${found.length} questions match "${word}"`, {
      hint: 'give more of the id',
    })
  }
  throw new CrabError('missing', `Cannot answer "${word}": no pending question has that id`, {
    hint: 'it was answered elsewhere, or its turn has ended; see crabtalk asks',
  })
}
