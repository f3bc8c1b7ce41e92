import { CrabError } from '../base/errors.ts'
import type { Usage } from '../base/message.ts'
import type { ModelRequest, Provider } from '../provider/types.ts'

/** The answer of a model to one question outside of a turn. */
export interface ModelAnswer {
  /** Trimmed; never empty unless the answer was cut off. */
  text: string
  /** Whether the answer was cut off at the limit of output tokens. */
  isCut: boolean
  usage: Usage | undefined
}

/**
 * Calls a model once, without tools. Fails as the call does, with `refused`, with `empty` for an empty
 * answer, or with `unavailable` when the answer breaks off; messages of the latter three begin with `what`.
 */
export async function askModel(
  provider: Provider,
  { what, ...request }: Omit<ModelRequest, 'tools'> & { what: string },
  signal: AbortSignal,
): Promise<ModelAnswer> {
  let text = ''
  for await (const event of provider.complete({ ...request, tools: [] }, signal)) {
    if (event.type === 'text') text += event.delta
    if (event.type === 'retry') text = ''
    if (event.type !== 'finish') continue
    if (event.reason === 'refused') throw new CrabError('refused', `${what}: the model refused`)
    const isCut = event.reason === 'length'
    if (text.trim() === '' && !isCut)
      throw new CrabError('empty', `${what}: the model returned an empty answer`)
    return { text: text.trim(), isCut, usage: event.usage }
  }
  throw new CrabError('unavailable', `${what}: the model's answer ended early`)
}

/** The `truncated` error for an answer that was cut off. */
export function toTruncatedError(what: string): CrabError {
  return new CrabError('truncated', `${what}: the model's answer was cut off`)
}
