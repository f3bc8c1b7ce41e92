import { CrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import type { ModelRequest, Provider } from '../provider/types.ts'

/** What a model said to one question outside of any turn. */
export interface ModelAnswer {
  /** Trimmed; never empty unless it was cut. */
  text: string
  /** There is more of it than the model was allowed to say. */
  isCut: boolean
  usage: Usage | undefined
}

/**
 * One call of a model that has no tools. Throws what the call fails with, `refused`, `empty` for an answer of nothing; each
 * message begins with `what`.
 */
export async function askModel(
  provider: Provider,
  { what, ...request }: Omit<ModelRequest, 'tools'> & { what: string },
  signal: AbortSignal,
): Promise<ModelAnswer> {
  let text = ''
  for await (const event of provider.complete({ ...request, tools: [] }, signal)) {
    if (event.type === 'text') text += event.delta
    if (event.type !== 'finish') continue
    if (event.reason === 'refused') throw new CrabError('refused', `${what}: the model refused`)
    const isCut = event.reason === 'length'
    if (text.trim() === '' && !isCut) throw new CrabError('empty', `${what}: the model said nothing`)
    return { text: text.trim(), isCut, usage: event.usage }
  }
  throw new CrabError('unavailable', `${what}: the model's answer broke off`)
}

/** The failure that an answer is which was cut. */
export function toTruncatedError(what: string): CrabError {
  return new CrabError('truncated', `${what}: the model's answer was cut off`)
}
