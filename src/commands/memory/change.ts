import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { readNamedText, readStream, toText, unreadable } from '../../cli/named-file.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { toJsonEntry } from './entries.ts'
import { summarizeEntry } from './list.ts'

/** Runs `crabtalk memory remember`. */
export const rememberCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', ...words] = options.args
  const content = await readContent(words, host, signal)
  const value = { name, content, aliases: [...options.values('alias')] }
  const entry = await applyOp({ options, host, op: { $case: 'remember', value } }, signal)
  return printEntry('remembered', entry, { options, host })
}

/** Runs `crabtalk memory rename`. */
export const renameMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', newName = ''] = options.args
  const op = { $case: 'rename', value: { name, newName } } as const
  return printEntry('renamed', await applyOp({ options, host, op }, signal), { options, host })
}

/** Runs `crabtalk memory alias`. */
export const aliasMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', ...add] = options.args
  const remove = [...options.values('remove')]
  if (add.length + remove.length === 0) {
    throw new CrabError('usage', 'Cannot change aliases: none is given', {
      hint: `for example crabtalk memory alias ${name} OTHER, or --remove OTHER`,
    })
  }
  const op = { $case: 'alias', value: { name, add, remove } } as const
  return printEntry('changed', await applyOp({ options, host, op }, signal), { options, host })
}

type Op =
  | { $case: 'remember'; value: { name: string; content: string; aliases: string[] } }
  | { $case: 'rename'; value: { name: string; newName: string } }
  | { $case: 'alias'; value: { name: string; add: string[]; remove: string[] } }

async function applyOp(
  { options, host, op }: { options: ParsedOptions; host: Host; op: Op },
  signal: AbortSignal,
): Promise<MemoryEntry> {
  await using attached = await attach(host, { signal })
  return await request(attached.dispatch, 'memoryOp', { agent: options.value('agent') ?? '', op }, signal)
}

function printEntry(
  verb: string,
  entry: MemoryEntry,
  { options, host }: { options: ParsedOptions; host: Host },
): number {
  if (options.has('json')) return printJson(host, toJsonEntry(entry))
  host.stdout.write(`${verb} ${summarizeEntry(entry)}\n`)
  return 0
}

/**
 * Reads the content to remember: words joined by a space, `@FILE`, or standard input for `-` and for no
 * words. One final line break of a file or pipe is dropped. Throws `usage` when there is no content.
 */
async function readContent(words: readonly string[], host: Host, signal: AbortSignal): Promise<string> {
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

const BEGINS_WITH_AT = 'pipe content that starts with @ into standard input'
const STDIN = 'standard input'
