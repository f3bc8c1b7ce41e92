import type { Host } from '../../cli/host.ts'
import { readNamedText, readStream, toText, unreadable } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'

/**
 * Reads the content to remember: words joined by a space, `@FILE`, or standard input for `-` and for no
 * words. One final line break of a file or pipe is dropped. Throws `usage` when there is no content.
 */
export async function readContent(
  words: readonly string[],
  host: Host,
  signal: AbortSignal,
): Promise<string> {
  const [word = '-'] = words
  const text = words.length > 1 ? words.join(' ') : await readWord(word, host, signal)
  if (text.trim() !== '') return text
  throw missingContent()
}

async function readWord(word: string, host: Host, signal: AbortSignal): Promise<string> {
  if (word.startsWith('@') && word !== '@-') {
    return withoutLineEnd(await readContentFile(word.slice(1), host, signal))
  }
  if (word !== '-' && word !== '@-') return word
  const kind = host.stdinKind()
  if (kind === 'terminal' || kind === 'none') throw missingContent()
  try {
    return withoutLineEnd(toText(await readStream(host.stdin(), STDIN), STDIN))
  } catch (cause) {
    throw unreadable(STDIN, cause, 'pipe the content into it')
  }
}

async function readContentFile(path: string, host: Host, signal: AbortSignal): Promise<string> {
  if (path.trim() === '')
    throw new CrabError('usage', 'Cannot remember: no file is named after @', { hint: BEGINS_WITH_AT })
  try {
    return await readNamedText({ path, purpose: ' to remember it' }, host, signal)
  } catch (cause) {
    if (!(cause instanceof CrabError) || cause.kind !== 'no-input') throw cause
    throw new CrabError('no-input', cause.message, { cause, hint: `check the path; ${BEGINS_WITH_AT}` })
  }
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function missingContent(): CrabError {
  return new CrabError('usage', 'Cannot remember: no content is given', {
    hint: 'for example crabtalk memory remember deploy "Every Friday at 10"',
  })
}

const BEGINS_WITH_AT = 'pipe content that begins with @ into standard input'
const STDIN = 'standard input'
