import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortable, toCancelledError } from '../../core/base/abortable.ts'
import { waitAtMost } from '../../core/base/deadline.ts'
import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { hideSecretsIn } from '../../core/base/secrets/redact.ts'
import type { ProcessHost, RunningProcess } from '../../core/process/types.ts'
import { describeStderrTail, LineTail } from '../stdio/stderr-tail.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { type HelperCredentials, listHelperSecrets, readHelperAnswer } from './helper-answer.ts'
import { LOGIN_COMMAND } from './login-hint.ts'

export interface AuthHelperOptions {
  processes: ProcessHost
  /** The program and its arguments, passed without a shell. */
  argv: readonly string[]
  /** Whether it is this program, which prints the token of a login. */
  isLogin: boolean
  /** Absolute. */
  cwd: string
  /** The whole environment. */
  env: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  now(): number
  /** Receives each line of its standard error. */
  note(line: string): void
}

/**
 * Runs a program that prints credentials, with a limit of ten seconds. readHelperAnswer() describes the
 * output.
 *
 * Throws `credentials`, saying in lower case what happened without quoting the output, or as the signal does.
 */
export async function runAuthHelper(
  options: AuthHelperOptions,
  signal: AbortSignal,
): Promise<HelperCredentials> {
  if (signal.aborted) throw toCancelledError(signal)
  const [program = '', ...args] = options.argv
  try {
    const { cwd, env } = options
    const running = await options.processes.start({ argv: [program, ...args], cwd, env, stdin: 'none' })
    return await readHelperResult(running, options, signal)
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    if (!(reason instanceof CrabError)) throw reason
    if (reason.kind === 'credentials') throw reason
    const why = reason.message.replace(/^Cannot /, 'cannot ')
    throw new CrabError('credentials', `its auth helper failed: ${why}`, { hint: HELPER_HINT })
  }
}

async function readHelperResult(
  running: RunningProcess,
  { now, note, isLogin }: AuthHelperOptions,
  signal: AbortSignal,
): Promise<HelperCredentials> {
  const stderr = new LineTail()
  let credentials: HelperCredentials | undefined
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
      if (isLogin && code === ERROR_KINDS.credentials.exit) throw toLoginError(stderr.lines()[0] ?? '')
      const words = toPrintableLine(describeStderrTail(stderr.lines()))
      const how = killedBy === null ? `it exited with code ${code}` : `it was killed by ${killedBy}`
      throw new CrabError('failed', words === '' ? how : `${how}: ${words}`)
    }
    credentials = readHelperAnswer(output, now())
    return credentials
  } finally {
    late.abort()
    await running.end()
    for (const line of stderr.lines()) note(`auth helper: ${withoutSecrets(line, credentials)}`)
  }
}

/** Converts the error that `crabtalk mcp token` prints without a login: `crabtalk: Cannot use https://…: why`. */
function toLoginError(line: string): CrabError {
  const [, why = 'you are not logged in'] = /^\w+: Cannot \w+ \S+: (.+)$/.exec(line) ?? []
  return new CrabError('credentials', `it requires a login: ${toPrintableLine(why)}`, { hint: LOGIN_COMMAND })
}

/** Removes the credentials from a line: some helpers print them to standard error too. */
function withoutSecrets(line: string, credentials: HelperCredentials | undefined): string {
  return credentials ? hideSecretsIn(line, listHelperSecrets(credentials)) : line
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
/** The hint for a helper that does not work. */
export const HELPER_HINT =
  'run it by hand: it must print a token, or lines of "Name: value", or JSON with "headers"'
