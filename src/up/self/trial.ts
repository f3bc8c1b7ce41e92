import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import type { ManagerCommand, UpHost } from '../types.ts'

/**
 * Tries a program before it replaces another; returns its version. Because `--version` is answered before the
 * program loads anything else, it also runs one command of crabtalk and one of crabup in an empty home.
 * Throws `invalid`.
 */
export async function tryProgram(
  program: string,
  host: Pick<UpHost, 'run' | 'env'>,
  signal: AbortSignal,
): Promise<string> {
  const version = await readProgramVersion(program, host, signal)
  await using home = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const env = { ...host.env, ...TRIAL_ENV, CRABTALK_HOME: home.path }
  for (const { args, isRight } of TRIALS) {
    const { code, stdout, stderr } = await host.run([program, ...args], { env, timeoutMs: TRY_MS }, signal)
    if (code === 0 && isRight(stdout)) continue
    const why = firstLine(stderr) || (code === 0 ? 'it does not print a JSON list' : `it ends with ${code}`)
    throw unfitProgramError(`the file is damaged: "${args.join(' ')}" fails: ${why}`)
  }
  return version
}

/** Returns the version that a program prints. Throws `invalid` when it does not start or is another program. */
export async function readProgramVersion(
  program: string,
  host: Pick<UpHost, 'run' | 'env'>,
  signal: AbortSignal,
): Promise<string> {
  const argv: ManagerCommand = [program, '--version']
  const run = () => host.run(argv, { env: host.env, timeoutMs: TRY_MS }, signal)
  const { code, stdout, stderr } = await run().catch(async (reason: NodeJS.ErrnoException) => {
    if (reason.code !== 'ETXTBSY') throw reason
    await sleep(BUSY_MS, undefined, { signal }) // another child, just forked, still had the new file open
    return await run()
  })
  const version = /^crabtalk (\S+)\n$/.exec(stdout)?.[1]
  if (code === 0 && version !== undefined) return version
  throw unfitProgramError(`it does not start here: ${firstLine(stderr) || `it ends with ${code}`}`)
}

function unfitProgramError(why: string): CrabError {
  return new CrabError('invalid', `Cannot switch to the new program: ${why}`, {
    hint: 'nothing was changed; it may be damaged, or for another system',
  })
}

function firstLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const errorLine = lines.find((line) => /^[^\s:]+: error/.test(line) || /^\w*Error: /.test(line))
  return errorLine ?? lines.find((line) => line !== '') ?? ''
}

/** Parses the JSON list of objects that a command printed; undefined when it printed anything else. */
function parseList(stdout: string): Record<string, unknown>[] | undefined {
  try {
    const list: unknown = JSON.parse(stdout)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

/** Read-only commands of both programs that print JSON; packaging/install.sh runs the same ones. */
const TRIALS: readonly { args: readonly string[]; isRight(stdout: string): boolean }[] = [
  { args: ['config', 'check', '--json'], isRight: (text) => parseList(text) !== undefined },
  {
    args: ['--as-crabup', 'list', '--json'],
    isRight: (text) => parseList(text)?.some(({ name }) => name === 'daemon') ?? false,
  },
]
const TRIAL_ENV = { CRABTALK_NO_DAEMON: '1', CRABTALK_SERVICE_MANAGER: 'supervisor' }
const TRY_MS = 30_000
const BUSY_MS = 200
