import { CrabError } from '../../core/base/errors.ts'

/** Largest input of any kind, bytes (the wire's frame limit). */
export const MAX_INPUT_BYTES = 16 * 1024 * 1024

/** Input that does not fit a message at all. */
export function tooLarge(name: string, bytes: number): CrabError {
  return new CrabError(
    'invalid',
    `Cannot send ${name}: it has ${bytes} bytes and the limit is ${MAX_INPUT_BYTES}`,
    {
      hint: 'send a part of it, for example through head or tail',
    },
  )
}
