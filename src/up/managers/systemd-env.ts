import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { UpHost } from '../types.ts'

/**
 * Builds the environment in which `systemctl --user` finds its manager even when the shell does not set the
 * variables: after `su`, over ssh, in a container. Output is in English and UTC.
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
 * Finds the folder from which the user manager reads units; undefined when no manager answers, or only one
 * with another home (as after `su`). The manager's own environment decides: the shell may have another
 * XDG_CONFIG_HOME.
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

/**
 * Strips the quoting and escaping that systemctl puts around a path with spaces; it differs between versions.
 */
function toBare(text: string): string {
  return text.replaceAll('\\x20', ' ').replaceAll(/["'\\$]/g, '')
}

/** Returns the folders that the manager searches, as systemctl prints them. */
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
    return undefined // systemctl is missing or hangs: either way there is no usable manager
  }
}

function findPath(path: string): string | undefined {
  return existsSync(path) ? path : undefined
}

/** A running manager answers within milliseconds. */
const ANSWER_MS = 5000
