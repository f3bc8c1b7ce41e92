import type { Noise, ServerOptions } from './options.ts'

/** Longer than the 10 MB that both SDKs buffer. */
const HUGE_BYTES = 12 * 1024 * 1024

/** The lines that are not messages, printed before each message. */
const LINES: Partial<Record<Noise, string>> = {
  text: 'Server running on stdio\n',
  blank: '\n  \n\r\n',
  json: '42\n[]\n{"level":"info","msg":"not a message"}\n',
  partial: '{"jsonrpc":"2.0","id":1,"resu\n',
}

/** Splits a line into the pieces that are written separately. */
export function splitIntoPieces(
  line: string,
  isFirst: boolean,
  { noise = [], huge }: Pick<ServerOptions, 'noise' | 'huge'>,
): Buffer[] {
  const ending = noise.includes('crlf') ? '\r\n' : '\n'
  const pieces = [garbage(noise, huge), `${line}${ending}`].map((piece) => Buffer.from(piece))
  if (isFirst && noise.includes('bom')) pieces.unshift(Buffer.from([0xef, 0xbb, 0xbf]))
  return noise.includes('split') ? cut(Buffer.concat(pieces)) : [Buffer.concat(pieces)]
}

/** Returns lines of these kinds that are not messages. */
export function garbage(noise: readonly Noise[], hugeBytes = HUGE_BYTES): string {
  const lines = noise.map((kind) => LINES[kind] ?? '').join('')
  return noise.includes('huge') ? `${lines}${'x'.repeat(hugeBytes)}\n` : lines
}

/** Splits bytes into about twenty pieces of odd length, so that multi-byte characters are split too. */
function cut(bytes: Buffer): Buffer[] {
  const length = Math.ceil(bytes.length / 20) | 1
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  )
}
