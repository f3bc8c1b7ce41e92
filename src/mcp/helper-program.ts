import { CrabError } from '../core/base/errors.ts'
import {
  describeServerHelpers,
  findOwnHelper,
  type HelperKey,
  isServerHelper,
  OWN_NAME,
} from '../core/base/own-helpers.ts'

/** The running program, which may be its own helper. */
export interface RunningProgram {
  /** Returns the command that starts the program again; absent when it is embedded in another program. */
  command?: (() => Promise<readonly string[]>) | undefined
  /** The whole environment of this process. */
  env: Readonly<Record<string, string | undefined>>
  /** The home directory of crabtalk; absolute. */
  home: string
}

/** A program that prints credentials, with its arguments and its whole environment. */
export interface HelperProgram {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
}

/**
 * Prepares the helper of a key. The program `crabtalk` is the running program: it gets the home and the whole environment,
 * because it finds credentials there; any other helper gets the environment of a server. Throws `credentials` for a helper that a server
 * cannot have.
 */
export async function prepareHelper(
  key: HelperKey,
  { argv, env }: HelperProgram,
  own: RunningProgram,
): Promise<HelperProgram> {
  if (key !== 'key_helper' && !isServerHelper(key, argv))
    throw new CrabError('credentials', `its "${key}" ${describeServerHelpers(key)}`)
  const [program = '', ...args] = argv
  if (program !== OWN_NAME) return { argv, env }
  const inherited = Object.entries(own.env).filter(([, value]) => value !== undefined)
  const command = (await own.command?.()) ?? [program]
  return {
    argv: [...command, ...args],
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), CRABTALK_HOME: own.home },
  }
}

/** Whether a helper prints the token of a login: `crabtalk mcp token`. */
export function isLoginHelper(argv: readonly string[] | undefined): boolean {
  return findOwnHelper(argv ?? []) === 'mcp token'
}
