import { basename, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { abortable, toCancelledError } from '../../base/abortable.ts'
import { CrabError } from '../../base/errors.ts'
import { isInside } from '../../policy/paths.ts'
import { readUntilExit } from '../../process/read-until-exit.ts'
import type { ProcessHost } from '../../process/types.ts'
import type { FileSearchScope, FoundLine, SearchEngine, SearchQuery } from './engine.ts'
import { splitRecords } from './records.ts'

/** The longest record that is read; a line that produces a longer one is skipped. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024

/** A ripgrep program and how to start it. */
export interface RipgrepOptions {
  processes: ProcessHost
  /** A path, or a name that is looked up in the PATH of `env`. */
  program: string
  env: Readonly<Record<string, string>>
}

/** Searches with ripgrep, one process for each search; the user's own configuration of it is ignored. */
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

/** The first major version that has every option in use. */
const OLDEST = 13

/** The time limit for `--version`; a slower program is not used. */
const VERSION_LIMIT_MS = 2_000

/**
 * Whether the program is a usable ripgrep: the system may forbid running it, and not every `rg` is ripgrep.
 * Takes at most a few seconds.
 */
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
    let output = ''
    const take = (piece: Buffer) => {
      if (output.length < MAX_OUTPUT_CHARS) output += piece.toString()
      return undefined
    }
    await abortable(readUntilExit(running.stdout, running.exited, take), limit)
    const { code } = await abortable(running.exited, limit)
    const [, version] = /^ripgrep (\d+)\./.exec(output) ?? []
    return code === 0 && Number(version) >= OLDEST
  } catch {
    return false // missing, built for another machine, or not answering
  }
}

function queryArgs({ pattern, ignoreCase }: SearchQuery): string[] {
  return ['--engine=auto', '--crlf', ...(ignoreCase ? ['--ignore-case'] : []), `--regexp=${pattern}`]
}

/**
 * Converts a scope to arguments. The name glob becomes a file type, because a glob that only includes
 * (`--glob=*.ts`) would also include files that git ignores.
 */
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
    const stderrStart = keepStart(running.stderr)
    yield* running.stdout
    const { code, signal: killedBy } = await running.exited
    if (signal.aborted) throw toCancelledError(signal)
    if (killedBy) throw new CrabError('failed', `Cannot search: ripgrep was killed by ${killedBy}`)
    // Exit code 2 without a message means that some files were unreadable.
    if (code === 2 && stderrStart() !== '') throw toRefusal(stderrStart())
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const MAX_OUTPUT_CHARS = 8_192

/** Keeps the beginning of a stream's output; the rest is read and dropped. */
function keepStart(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (piece: string) => {
    if (text.length < MAX_OUTPUT_CHARS) text += piece
  })
  return () => text.trim()
}

function toRefusal(message: string): CrabError {
  const [, why] = /^error: (.+)$/m.exec(message) ?? []
  if (why)
    return new CrabError('invalid', `Cannot search: the pattern is not a valid regular expression: ${why}`)
  return new CrabError('invalid', `Cannot search: ${message.replace(/^rg: /, '')}`)
}

/** The output of `rg --json`, as far as it is used. Text that is not UTF-8 comes as bytes in base64. */
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
