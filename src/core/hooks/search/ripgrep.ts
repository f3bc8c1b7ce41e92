import { basename, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { abortable, toCancelledError } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'
import { isInside } from '../../policy/paths.ts'
import { readUntilExit } from '../../process/read-until-exit.ts'
import type { ProcessHost } from '../../process/types.ts'
import type { FileSearchScope, FoundLine, SearchEngine, SearchQuery } from './engine.ts'
import { splitRecords } from './records.ts'

/** Longest record that is read; a line that makes a longer one is passed over. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024

export interface RipgrepOptions {
  processes: ProcessHost
  /** A path, or a name that `env` has a PATH for. */
  program: string
  env: Readonly<Record<string, string>>
}

/** Searches with ripgrep, a process for each search; the person's own settings of it do not count. */
export function ripgrepEngine(options: RipgrepOptions): SearchEngine {
  const search = (args: readonly string[], scope: FileSearchScope, signal: AbortSignal) =>
    runRipgrep(options, { args: [...args, ...scopeArgs(scope), './'], cwd: scope.folder }, signal)
  return {
    async *files(scope, signal) {
      const names = search(['--files', '--null'], scope, signal)
      for await (const name of splitRecords(names, { delimiter: 0, maxBytes: MAX_RECORD_BYTES })) {
        yield toPath(name.toString())
      }
    },
    async *lines(query, scope, signal) {
      const { context, limit } = query
      const args = ['--json', `--context=${context}`, `--max-count=${limit}`, ...queryArgs(query)]
      const printed = search(args, scope, signal)
      for await (const record of splitRecords(printed, { delimiter: 0x0a, maxBytes: MAX_RECORD_BYTES })) {
        const line = toLine(JSON.parse(record.toString()) as JsonRecord)
        if (line) yield line
      }
    },
    async *matchingFiles(query, scope, signal) {
      const limit = query.counted ? [] : ['--max-count=1']
      const printed = search(['--count', '--null', ...limit, ...queryArgs(query)], scope, signal)
      let path: string | undefined
      for await (const record of splitRecords(printed, { delimiter: 0, maxBytes: MAX_RECORD_BYTES })) {
        const pair = record.toString() // the count of one file, a line break, and the path of the next
        const end = path === undefined ? -1 : pair.indexOf('\n')
        if (path !== undefined) yield { path: toPath(path), lines: Number(pair.slice(0, end)) }
        path = pair.slice(end + 1)
      }
    },
  }
}

/** The first with every option in use. */
const OLDEST = 13

/** Whoever needs longer to say what it is, is not asked to search. */
const VERSION_LIMIT_MS = 2_000

/** Whether it runs here: a folder may forbid that, and not every `rg` is ripgrep. Takes no longer than a few seconds. */
export async function isRipgrep({ processes, program, env }: RipgrepOptions): Promise<boolean> {
  try {
    await using running = await processes.start({
      argv: [program, '--version'],
      cwd: '/',
      env,
      stdin: 'none',
    })
    running.stderr.resume()
    const limit = AbortSignal.timeout(VERSION_LIMIT_MS)
    let said = ''
    const take = (piece: Buffer) => {
      if (said.length < MAX_SAID) said += piece.toString()
      return undefined
    }
    await abortable(readUntilExit(running.stdout, running.exited, take), limit)
    const { code } = await abortable(running.exited, limit)
    const [, version] = /^ripgrep (\d+)\./.exec(said) ?? []
    return code === 0 && Number(version) >= OLDEST
  } catch {
    return false // not there, not for this machine, or silent
  }
}

function queryArgs({ pattern, ignoreCase }: SearchQuery): string[] {
  return ['--engine=auto', '--crlf', ...(ignoreCase ? ['--ignore-case'] : []), `--regexp=${pattern}`]
}

/** A glob that only includes (`--glob=*.ts`) would include what git ignores; a file type does not. */
function scopeArgs({ root, isFile, closed, glob }: FileSearchScope): string[] {
  const only = isFile ? ['--glob=!*', `--glob=/${escapeGlob(basename(root))}`] : []
  const inside = closed.filter((place) => isInside(root, place))
  return [
    ...['--no-config', '--hidden', '--no-ignore-global', '--no-messages', '--no-ignore-messages'],
    ...(glob?.nameGlob === undefined ? [] : [`--type-add=wanted:${glob.nameGlob}`, '--type=wanted']),
    '--glob=!.git',
    ...only,
    ...inside.map((place) => `--glob=!/${escapeGlob(relative(root, place).replaceAll(sep, '/'))}`),
  ]
}

function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}!#\s]/g, '\\$&')
}

async function* runRipgrep(
  { processes, program, env }: RipgrepOptions,
  { args, cwd }: { args: readonly string[]; cwd: string },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  signal.throwIfAborted()
  await using running = await processes.start({ argv: [program, ...args], cwd, env, stdin: 'none' })
  const stop = () => void running.end()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const said = keepStart(running.stderr)
    yield* running.stdout
    const { code, signal: killedBy } = await running.exited
    if (signal.aborted) throw toCancelledError(signal)
    if (killedBy) throw new CrabError('failed', `Cannot search: ripgrep was ended by ${killedBy}`)
    if (code === 2 && said() !== '') throw toRefusal(said()) // without a word, something could not be read
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const MAX_SAID = 8_192

/** The start of what a stream says; the rest is read and dropped. */
function keepStart(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (piece: string) => {
    if (text.length < MAX_SAID) text += piece
  })
  return () => text.trim()
}

function toRefusal(said: string): CrabError {
  const [, why] = /^error: (.+)$/m.exec(said) ?? []
  if (why) return new CrabError('invalid', `Cannot search: the pattern is no regular expression: ${why}`)
  return new CrabError('invalid', `Cannot search: ${said.replace(/^rg: /, '')}`)
}

/** What `rg --json` prints, as far as it is used. Bytes, in base64, stand where something is no UTF-8. */
interface JsonRecord {
  type: string
  data: {
    path: JsonText
    lines: JsonText
    line_number: number
    /** Offsets in bytes. */
    submatches: { start: number }[]
  }
}
type JsonText = { text: string } | { bytes: string }

function toLine({ type, data }: JsonRecord): FoundLine | undefined {
  if (type !== 'match' && type !== 'context') return undefined
  const bytes = toBytes(data.lines)
  const [first] = data.submatches
  return {
    path: toPath(toBytes(data.path).toString()),
    number: data.line_number,
    text: bytes.toString().replace(/\r?\n$/, ''),
    matchAt: type === 'match' ? bytes.subarray(0, first?.start ?? 0).toString().length : undefined,
  }
}

function toBytes(text: JsonText): Buffer {
  return 'text' in text ? Buffer.from(text.text) : Buffer.from(text.bytes, 'base64')
}

function toPath(name: string): string {
  return name.replace(/^\.[\\/]/, '').replaceAll(sep, '/')
}
