import { CrabError } from '../../core/base/errors.ts'
import type { Host } from '../host.ts'
import { collect, readNamedText, toText, unreadable } from '../named-file.ts'

/**
 * What is to be remembered: words joined by a space, `@FILE`, or standard input for `-` and for no words. Of a file or a
 * pipe one line end is left out. Throws `usage` when there is nothing.
 */
export async function readContent(
  words: readonly string[],
  host: Host,
  signal: AbortSignal,
): Promise<string> {
  const [word = '-'] = words
  const text = words.length > 1 ? words.join(' ') : await readWord(word, host, signal)
  if (text.trim() !== '') return text
  throw nothing()
}

async function readWord(word: string, host: Host, signal: AbortSignal): Promise<string> {
  if (word.startsWith('@') && word !== '@-') {
    const file = { path: word.slice(1), purpose: ' to remember it' }
    return withoutLineEnd(await readNamedText(file, host, signal))
  }
  if (word !== '-' && word !== '@-') return word
  const kind = host.stdinKind()
  if (kind === 'terminal' || kind === 'none') throw nothing()
  try {
    return withoutLineEnd(toText(await collect(host.stdin(), STDIN), STDIN))
  } catch (cause) {
    throw unreadable(STDIN, cause, 'pipe the content into it')
  }
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function nothing(): CrabError {
  return new CrabError('usage', 'Cannot remember: there is no content', {
    hint: 'for example crabtalk memory remember deploy "Every Friday at 10"',
  })
}

const STDIN = 'standard input'
