import { readFileSync } from 'node:fs'
import { parseVariables } from '../../core/config/env-file-text.ts'

/** What a service manager hands on of a person's session; everything else of a shell stays with the shell. */
const INHERITED =
  /^(HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_RUNTIME_DIR|XDG_(CONFIG|DATA|STATE|CACHE)_HOME|DBUS_SESSION_BUS_ADDRESS)$/
/** The same on Windows, where names have no case, and programs do not start without some of them. */
const INHERITED_ON_WINDOWS =
  /^(SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|OS|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE|USERNAME|USERDOMAIN|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PUBLIC|ProgramData|ALLUSERSPROFILE|ProgramFiles(\(x86\))?|CommonProgramFiles(\(x86\))?|TEMP|TMP)$/i

/** The part of an environment that a service gets, whoever started it. */
export function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  platform: 'linux' | 'darwin' | 'win32',
): Record<string, string> {
  const kept = platform === 'win32' ? INHERITED_ON_WINDOWS : INHERITED
  const pairs = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return Object.fromEntries(pairs.filter(([name]) => kept.test(name)))
}

/** The `KEY=VALUE` lines of a file, quotes and comments as in Node's own; none when it is missing or not to be read. */
export function readEnvFileSync(path: string): Record<string, string> {
  try {
    return parseVariables(readFileSync(path, 'utf8'))
  } catch {
    return {} // the service says itself what it lacks
  }
}
