import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { UpHost } from '../types.ts'

/**
 * The environment in which `systemctl --user` finds its manager where the shell does not say: after `su`, over ssh, in a
 * container. What it prints is in English and in UTC.
 */
export function systemdEnv({
  env,
  uid,
}: Pick<UpHost, 'env' | 'uid'>): Readonly<Record<string, string | undefined>> {
  const runtime = env['XDG_RUNTIME_DIR'] || findPath(`/run/user/${uid}`)
  const bus = runtime === undefined ? undefined : findPath(join(runtime, 'bus'))
  return {
    ...env,
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: env['DBUS_SESSION_BUS_ADDRESS'] || (bus && `unix:path=${bus}`),
    LC_ALL: 'C',
    TZ: 'UTC',
    SYSTEMD_COLORS: '0',
  }
}

/**
 * Where the user manager reads the units of a person, or undefined where none answers, or only one that has another home
 * (as after `su`). It goes by the manager's own environment: a shell may have another XDG_CONFIG_HOME than it has.
 */
export async function findUnitFolder(host: UpHost, signal: AbortSignal): Promise<string | undefined> {
  const searched = ` ${toBare((await searchPath(host, signal))?.trim() ?? '')} `
  const config = host.env['XDG_CONFIG_HOME']
  const folders = [join(host.homeDir, '.config')]
  if (config && isAbsolute(config)) folders.unshift(config)
  return folders
    .map((folder) => join(folder, 'systemd/user'))
    .find((folder) => searched.includes(` ${toBare(folder)} `))
}

/** Without what systemctl puts around a path with a space, and before what a shell would read: each version its own. */
function toBare(text: string): string {
  return text.replaceAll('\\x20', ' ').replaceAll(/["'\\$]/g, '')
}

/** The folders it searches, as it prints them. */
async function searchPath(host: UpHost, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { code, stdout } = await host.run(
      ['systemctl', '--user', 'show', '--property=UnitPath', '--value'],
      { env: systemdEnv(host), timeoutMs: ANSWER_MS },
      signal,
    )
    return code === 0 ? stdout : undefined
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError)) throw reason
    return undefined // no systemctl, or one that hangs: either way there is no manager for us
  }
}

function findPath(path: string): string | undefined {
  return existsSync(path) ? path : undefined
}

/** A manager that is there answers in milliseconds. */
const ANSWER_MS = 5000
