import { MAX_INPUT_BYTES, tooLarge } from './named-file.ts'

/**
 * Yields the lines of a stream without their line breaks; the last line needs none. Throws `invalid` for a
 * line that is too long.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // the parts of an incomplete line, joined only once, because a long line arrives in many pieces
  let parts: string[] = []
  let length = 0
  for await (const piece of stream) {
    for (const [index, part] of decoder.decode(piece, { stream: true }).split('\n').entries()) {
      if (index > 0) {
        yield parts.join('')
        parts = []
        length = 0
      }
      parts.push(part)
      length += part.length
      if (length > MAX_INPUT_BYTES) throw tooLarge('a record')
    }
  }
  if (length > 0) yield parts.join('')
}
