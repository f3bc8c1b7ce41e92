import { CrabError, ERROR_KINDS } from '../../core/base/errors.ts'
import { type HelperRun, runHelper } from '../helper/run-helper.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { type HelperCredentials, listHelperSecrets, readHelperAnswer } from './helper-answer.ts'
import { LOGIN_COMMAND } from './login-hint.ts'

export interface AuthHelperOptions
  extends Pick<HelperRun<HelperCredentials>, 'processes' | 'argv' | 'env' | 'cwd' | 'note'> {
  /** Whether it is this program, which prints the token of a login. */
  isLogin: boolean
  /** Milliseconds since 1970. */
  now(): number
}

/**
 * Runs the auth helper of a server, as runHelper() does; readHelperAnswer() describes its output. A missing login is
 * named by its own error.
 */
export async function runAuthHelper(
  options: AuthHelperOptions,
  signal: AbortSignal,
): Promise<HelperCredentials> {
  const { isLogin, now } = options
  return await runHelper(
    {
      ...options,
      title: 'auth helper',
      parse: (output) => readHelperAnswer(output, now()),
      listSecrets: listHelperSecrets,
      explain: (code, line) =>
        isLogin && code === ERROR_KINDS.credentials.exit ? toLoginError(line) : undefined,
      hint: HELPER_HINT,
    },
    signal,
  )
}

/** Converts the error that `crabtalk mcp token` prints without a login: `crabtalk: error[credentials]: Cannot use https://…: why`. */
function toLoginError(line: string): CrabError {
  const [, why = 'you are not logged in'] = /^\w+: (?:error\[\w+\]: )?Cannot \w+ \S+: (.+)$/.exec(line) ?? []
  return new CrabError('credentials', `it requires a login: ${toPrintableLine(why)}`, { hint: LOGIN_COMMAND })
}

/** The hint for a helper that does not work. */
export const HELPER_HINT =
  'run it by hand: it must print a token, or lines of "Name: value", or JSON with "headers"'
