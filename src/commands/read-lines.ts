import { MAX_INPUT_BYTES, tooLarge } from './named-file.ts'

/** The lines of a stream, without their ends; the last one needs none. Throws `invalid` for one that is too long. */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = [] // of a line whose end has not come; joined once, for a long line comes in many pieces
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
