import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import { parseVariables } from '../../core/config/env-file-text.ts'
import type { ProcessHost } from '../../core/process/types.ts'
import { prepareHelper, type RunningProgram } from '../helper-program.ts'
import { serverEnvironment } from '../stdio/environment.ts'
import { runHelper } from './run-helper.ts'

/** The env helper of a server, and this process, which runs it. */
export interface EnvHelper {
  argv: readonly string[]
  processes: ProcessHost
  own: RunningProgram
  /** Receives each line of its standard error. */
  note(line: string): void
}

/** Runs the env helper of a server and returns its variables. Throws as runHelper() does. */
export async function runEnvHelper(
  { argv, processes, own, note }: EnvHelper,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const program = await prepareHelper('env_helper', { argv, env: serverEnvironment(own.env, {}) }, own)
  const listSecrets = (variables: Record<string, string>) =>
    Object.values(variables).filter(({ length }) => length >= MIN_SECRET)
  const run = { ...program, processes, cwd: own.home, note, listSecrets, hint: HELPER_HINT }
  return await runHelper({ ...run, title: 'env helper', parse: parseVariablesOutput }, signal)
}

/** Parses a JSON object of variables, or lines of KEY=VALUE. Throws `failed` without quoting the output. */
export function parseVariablesOutput(output: string): Record<string, string> {
  const text = output.trim()
  if (text === '') throw new CrabError('failed', 'it printed nothing')
  if (!text.startsWith('{')) {
    const variables = parseVariables(text)
    if (Object.keys(variables).length > 0) return variables
    throw new CrabError('failed', 'it printed neither JSON nor lines of KEY=VALUE')
  }
  const object = parseObject(text)
  if (!object) throw new CrabError('failed', 'it printed JSON that cannot be read')
  const entries = Object.entries(object).map(([name, value]): [string, string] => {
    const shown = JSON.stringify(name)
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new CrabError('failed', `${shown} is not the name of a variable`)
    if (typeof value === 'string' && !value.includes('\0')) return [name, value]
    throw new CrabError('failed', `its variable ${shown} is not a text`)
  })
  return Object.fromEntries(entries)
}

const HELPER_HINT = 'run it by hand: it must print a JSON object of variables, or lines of KEY=VALUE'
const MIN_SECRET = 4
