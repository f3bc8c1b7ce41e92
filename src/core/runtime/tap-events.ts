import { CrabError } from '../base/errors.ts'

/**
 * Yields the events of a turn, and shows each one to `observe` first.
 *
 * A consumer that leaves cancels the turn: `cancel` gets the reason, and the events up to the end are read
 * and observed without it. So a turn ends in one way only, whether it is aborted or left, and stores what was
 * said. The same happens when `observe` throws.
 */
export async function* tapEvents<T>(
  events: AsyncGenerator<T>,
  { observe, cancel }: { observe?(event: T): void; cancel(reason: CrabError): void },
): AsyncGenerator<T> {
  let isOver = false
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      observe?.(next.value)
      yield next.value
    }
    isOver = true
  } finally {
    if (!isOver) {
      cancel(new CrabError('cancelled', 'Cancelled: the client disconnected'))
      for await (const event of events) observe?.(event)
    }
  }
}
