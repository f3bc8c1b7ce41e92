import { readFileSync } from 'node:fs'
import { parseVariables } from '../../core/config/env-file-text.ts'

/** The variables of a login session that a service inherits; a shell's other variables are dropped. */
const INHERITED =
  /^(HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_RUNTIME_DIR|XDG_(CONFIG|DATA|STATE|CACHE)_HOME|DBUS_SESSION_BUS_ADDRESS)$/
/** The same for Windows, where names are case-insensitive and programs do not start without some of these. */
const INHERITED_ON_WINDOWS =
  /^(SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|OS|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE|USERNAME|USERDOMAIN|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PUBLIC|ProgramData|ALLUSERSPROFILE|ProgramFiles(\(x86\))?|CommonProgramFiles(\(x86\))?|TEMP|TMP)$/i

/** Returns the part of an environment that a service inherits, independent of the shell that started it. */
export function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  platform: 'linux' | 'darwin' | 'win32',
): Record<string, string> {
  const inherited = platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED
  const pairs = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return Object.fromEntries(pairs.filter(([name]) => inherited.test(name)))
}

/**
 * Reads the `KEY=VALUE` lines of a file, with quotes and comments as in Node's own parser; empty when the
 * file is missing or unreadable.
 */
export function readEnvFileSync(path: string): Record<string, string> {
  try {
    return parseVariables(readFileSync(path, 'utf8'))
  } catch {
    return {} // the service itself reports what it lacks
  }
}
