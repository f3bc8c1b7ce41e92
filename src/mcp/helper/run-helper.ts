import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { waitAtMost } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import { hideSecretsIn } from '../../core/base/secrets/redact.ts'
import type { ProcessHost, RunningProcess } from '../../core/process/types.ts'
import type { HelperProgram } from '../helper-program.ts'
import { describeStderrTail, LineTail } from '../stdio/stderr-tail.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/** A helper of an entry, and what it prints. */
export interface HelperRun<T> extends HelperProgram {
  processes: ProcessHost
  /** Absolute. */
  cwd: string
  /** Its name in errors. */
  title: 'auth helper' | 'env helper' | 'key helper'
  /** Parses its standard output. Throws `failed`, saying in lower case what is wrong without quoting the output. */
  parse(output: string): T
  /** Returns the secrets of a result: some helpers print them to standard error too. */
  listSecrets(result: T): readonly string[]
  /** Returns the error of a helper that exited with a code, by the first line of its standard error. */
  explain?(code: number | null, line: string): CrabError | undefined
  /** The hint of its errors, unless its standard error has one. */
  hint: string
  /** Receives each line of its standard error. */
  note(line: string): void
}

/**
 * Runs a program that prints credentials, with a limit of ten seconds.
 *
 * Throws `credentials`, saying in lower case what happened without quoting the output, or as the signal does.
 */
export async function runHelper<T>(run: HelperRun<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw toCancelledError(signal)
  const { argv, cwd, env, processes, title } = run
  const [program = '', ...args] = argv
  const stderr = new LineTail()
  try {
    const running = await processes.start({ argv: [program, ...args], cwd, env, stdin: 'none' })
    return await readResult(running, { run, stderr }, signal)
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    if (!(reason instanceof CrabError)) throw reason
    if (reason.kind === 'credentials') throw reason
    const why = reason.message.replace(/^Cannot /, 'cannot ')
    const advice = stderr.lines().find((line) => line.startsWith(HINT))
    const hint = advice === undefined ? run.hint : toPrintableLine(advice.slice(HINT.length))
    throw new CrabError('credentials', `its ${title} failed: ${why}`, { hint })
  }
}

async function readResult<T>(
  running: RunningProcess,
  { run, stderr }: { run: HelperRun<T>; stderr: LineTail },
  signal: AbortSignal,
): Promise<T> {
  let secrets: readonly string[] = []
  const late = new AbortController()
  try {
    running.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    const timeLimit = sleep(TIME_LIMIT_MS, undefined, { signal: late.signal, ref: false })
    const work = Promise.all([readStdout(running), running.exited])
    const done = await abortable(Promise.race([work, timeLimit]), signal)
    if (done === undefined)
      throw new CrabError('timeout', `it did not finish within ${TIME_LIMIT_MS / 1000} s`)
    const [output, { code, signal: killedBy }] = done
    if (code !== 0) {
      await waitAtMost(finished(running.stderr), STDERR_MS).catch(() => undefined)
      const known = run.explain?.(code, stderr.lines()[0] ?? '')
      if (known) throw known
      const words = toPrintableLine(describeStderrTail(stderr.lines())).replace(OWN_ERROR, '')
      const how = killedBy === null ? `it exited with code ${code}` : `it was killed by ${killedBy}`
      throw new CrabError('failed', words === '' ? how : `${how}: ${words}`)
    }
    const result = run.parse(output)
    secrets = run.listSecrets(result)
    return result
  } finally {
    late.abort()
    await running.end()
    for (const line of stderr.lines()) run.note(`${run.title}: ${hideSecretsIn(line, secrets)}`)
  }
}

async function readStdout({ stdout }: RunningProcess): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_OUTPUT_BYTES) throw new CrabError('failed', 'it printed too much')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const TIME_LIMIT_MS = 10_000
/** The wait for the error text of a helper that has exited. */
const STDERR_MS = 500
const MAX_OUTPUT_BYTES = 64 * 1024
/** The beginnings of the lines in which this program prints an error. */
const OWN_ERROR = /^crabtalk: error\[[\w-]+\]: /
const HINT = 'hint: '
