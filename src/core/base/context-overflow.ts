import type { ErrorKind } from './errors.ts'

/** Whether a model call failed because its request does not fit into the context window; each provider words that differently. */
export function isContextOverflow({ kind, message }: { kind: ErrorKind; message: string }): boolean {
  return kind === 'invalid' && TOO_LONG.test(message)
}

const TOO_LONG =
  /context (length|size|window|limit)|too long|too many (input )?tokens|too large|exceeds the maximum number of tokens/i
