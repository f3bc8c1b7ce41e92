import type { ColorChoice } from '../../cli/color.ts'
import type { ParsedOptions } from '../../cli/command.ts'
import { parseCount, parseDuration } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { readNamedText } from '../../cli/named-file.ts'
import { type OutFile, openOutFile } from '../../cli/out-file.ts'
import { type PermissionSettings, readPermissionSettings } from '../../cli/permission-settings.ts'
import { CrabError } from '../../core/base/errors.ts'
import { ToolSet } from '../../core/protocol/crabtalk.generated.ts'
import { isMcpOff } from '../session-servers.ts'

/** The conversation to which a message goes. */
type Target = { kind: 'fresh' } | { kind: 'named'; sender: string } | { kind: 'last' }

/** All options of `send`, validated; times are in milliseconds, and 0 means no limit. */
export interface SendSettings extends PermissionSettings {
  agent: string
  target: Target
  fork: boolean
  ephemeral: boolean
  /** Added directories; rules treat their files like those of the working directory. */
  roots: readonly string[]
  args: readonly string[]
  files: readonly string[]
  images: readonly string[]
  readStdin: boolean
  stdinWaitMs: number
  /** The part of an input that is cut when it is too long. */
  truncate: Truncate | undefined
  /** Whether standard input carries records instead of a prompt. */
  records: boolean
  /** Whether to exit as soon as the turn is accepted; it continues in the daemon. */
  detach: boolean
  model: string
  system: string | undefined
  schema: string
  thinking: boolean | undefined
  effort: string
  maxTurns: number | undefined
  /** The share of the context window from which the conversation is compacted. */
  compactAt: number | undefined
  maxCostUsd: number | undefined
  retries: number | undefined
  form: OutputForm
  outFile: OutFile | undefined
  lastOnly: boolean
  buffer: boolean
  raw: boolean
  color: ColorChoice
  /** -1: quiet, 0: normal, 1: one line per tool call, 2: every event. */
  verbosity: number
  timeoutMs: number
  idleTimeoutMs: number
  tools: ToolSet
  noMcp: boolean
  failOnToolError: boolean
}

/** The part of an input that --truncate cuts. */
export type Truncate = 'head' | 'tail' | 'middle'
type OutputForm = 'text' | 'json' | 'stream-json'

/** Reads the options of `send`. Throws `usage` for contradictions, `no-input` for missing files. */
export async function readSettings(
  options: ParsedOptions,
  host: Host,
  signal: AbortSignal,
): Promise<SendSettings> {
  const { value, has } = options
  const duration = (name: string, fallback: string) => parseDuration(name, value(name) ?? fallback)
  const count = (name: string, least?: number) =>
    parseOptional(value(name), (text) => parseCount(name, text, least))
  const form = parseChoice('output', value('output') ?? 'text', ['text', 'json', 'stream-json'] as const)
  if (form === 'stream-json') refuse('--output stream-json', options, ['out-file'])
  return {
    agent: value('agent') ?? '',
    target: readTarget(options),
    fork: has('fork'),
    ephemeral: has('no-save'),
    roots: options.values('add-dir'),
    args: options.args,
    files: options.values('file'),
    images: options.values('image'),
    readStdin: !has('no-stdin'),
    stdinWaitMs: duration('stdin-wait', '30s'),
    truncate: parseOptional(value('truncate'), (text) =>
      parseChoice('truncate', text, ['head', 'tail', 'middle'] as const),
    ),
    records: readsRecords(options, form),
    detach: readsDetach(options, form),
    model: value('model') ?? '',
    system: await readSystemText(value('system'), host, signal),
    schema: await readSchemaText(value('schema'), host, signal),
    thinking: has('thinking') || undefined,
    effort: value('effort') ?? '',
    maxTurns: count('max-turns', 1),
    compactAt: parseOptional(value('compact-at'), parseShare),
    maxCostUsd: parseOptional(value('max-cost'), parseUsd),
    retries: count('retries'),
    form,
    outFile: await openOutFile(value('out-file'), host),
    lastOnly: has('last'),
    buffer: has('buffer'),
    raw: has('raw'),
    color: parseChoice('color', value('color') ?? 'auto', ['auto', 'always', 'never'] as const),
    verbosity: has('quiet') ? -1 : options.count('verbose'),
    timeoutMs: duration('timeout', '10m'),
    idleTimeoutMs: duration('idle-timeout', '2m'),
    tools: readToolSet(value('tools')),
    noMcp: has('no-mcp') || isMcpOff(host),
    ...(await readPermissionSettings(options, host)),
    failOnToolError: has('fail-on-tool-error'),
  }
}

/**
 * Returns whether a turn uses a running daemon or needs one: only in a daemon can another client answer a
 * parked question.
 */
export function daemonFor({ onAsk, detach }: Pick<SendSettings, 'onAsk' | 'detach'>): 'use' | 'need' {
  return detach || onAsk === 'park' ? 'need' : 'use'
}

function readToolSet(text: string | undefined): ToolSet {
  if (text === undefined) return ToolSet.UNSPECIFIED
  const sets = { none: ToolSet.NONE, read: ToolSet.READ, all: ToolSet.ALL }
  return sets[parseChoice('tools', text, ['none', 'read', 'all'] as const)]
}

function readTarget(options: ParsedOptions): Target {
  const ways = ['sender', 'continue', 'no-save'].filter((name) => options.has(name))
  if (ways.length > 1) {
    throw new CrabError('usage', `Cannot combine --${ways[0]} and --${ways[1]}`, {
      hint: 'give only one of them',
    })
  }
  const sender = options.value('sender')
  if (sender === '')
    throw new CrabError('usage', 'Cannot use an empty --sender', { hint: 'for example --sender notes' })
  if (options.has('fork') && sender === undefined && !options.has('continue')) {
    throw new CrabError('usage', 'Cannot fork a conversation that does not exist yet', {
      hint: 'add -s NAME or -c',
    })
  }
  if (sender !== undefined) return { kind: 'named', sender }
  return options.has('continue') ? { kind: 'last' } : { kind: 'fresh' }
}

function readsRecords(options: ParsedOptions, form: OutputForm): boolean {
  const input = parseChoice('input', options.value('input') ?? 'text', ['text', 'stream-json'] as const)
  if (input === 'text') return false
  refuse('--input stream-json', options, ['file', 'image', 'stdin-wait', 'truncate', 'no-stdin'])
  if (form !== 'stream-json' || options.args.length > 0) {
    throw new CrabError(
      'usage',
      'Cannot read records: --input stream-json requires --output stream-json and no prompt',
      {
        hint: 'crabtalk send --input stream-json --output stream-json',
      },
    )
  }
  return true
}

/** Whether --detach is set. Throws `usage` for options that need a process that waits for the answer. */
function readsDetach(options: ParsedOptions, form: OutputForm): boolean {
  if (!options.has('detach')) return false
  const alone = ['timeout', 'idle-timeout', 'fail-on-tool-error', 'schema', 'no-save', 'no-daemon']
  refuse('--detach', options, ['input', 'out-file', 'last', 'buffer', ...alone])
  if (form !== 'stream-json') return true
  throw new CrabError('usage', 'Cannot combine --detach and --output stream-json', {
    hint: 'crabtalk tail --json follows the conversation',
  })
}

function refuse(what: string, options: ParsedOptions, names: readonly string[]): void {
  const conflicting = names.find((name) => options.has(name))
  if (conflicting === undefined) return
  throw new CrabError('usage', `Cannot combine ${what} and --${conflicting}`, {
    hint: `leave --${conflicting} out`,
  })
}

function parseChoice<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text)
  if (found !== undefined) return found
  throw new CrabError('usage', `Cannot use --${option} ${text}`, {
    hint: `choose one of ${known.join(', ')}`,
  })
}

function parseOptional<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined ? undefined : read(text)
}

function parseUsd(text: string): number {
  const [, amount] = /^\$?(\d*\.?\d+)$/.exec(text) ?? []
  if (amount !== undefined) return Number(amount)
  throw new CrabError('usage', `Cannot use --max-cost ${text}: it must be an amount in US dollars`, {
    hint: 'for example --max-cost 0.50',
  })
}

function parseShare(text: string): number {
  const [, digits, percent] = /^(\d*\.?\d+)(%?)$/.exec(text) ?? []
  const share = Number(digits) / (percent === '%' ? 100 : 1)
  if (share > 0 && share <= 1) return share
  throw new CrabError('usage', `Cannot use --compact-at ${text}: it must be a share of the context window`, {
    hint: 'for example --compact-at 85%',
  })
}

/** Returns the text of --system, or the content of the file after `@`. */
async function readSystemText(
  text: string | undefined,
  host: Host,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!text?.startsWith('@')) return text
  return await readNamedText({ path: text.slice(1), purpose: ' for --system' }, host, signal)
}

async function readSchemaText(
  pathOrText: string | undefined,
  host: Host,
  signal: AbortSignal,
): Promise<string> {
  if (pathOrText === undefined) return ''
  const isText = pathOrText.trimStart().startsWith('{')
  const text = isText
    ? pathOrText
    : await readNamedText({ path: pathOrText, purpose: ' for --schema' }, host, signal)
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec((cause as Error).message) ?? []
    const at = line === undefined ? '' : ` (line ${line}, column ${column})`
    throw new CrabError('usage', `Cannot use --schema: it is not valid JSON${at}`, {
      cause,
      hint: 'give JSON text or a file of it',
    })
  }
}
