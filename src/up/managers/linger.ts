import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { userName } from '../../core/base/user.ts'
import type { ManagerCommand, UpHost } from '../types.ts'
import { systemdEnv } from './systemd-env.ts'

/** The command the user runs when crabup may not enable lingering. */
export const LINGER_COMMAND = 'loginctl enable-linger'

/** Builds the command that crabup runs itself; it never prompts for a password. */
export function toLoginctl(verb: 'enable-linger' | 'disable-linger'): ManagerCommand {
  return ['loginctl', '--no-ask-password', verb]
}

/** Whether the user manager outlives the last logout: logind keeps a file for each lingering user. */
export function isLingering(folder = '/var/lib/systemd/linger'): boolean {
  const name = userName()
  return name !== undefined && existsSync(join(folder, name))
}

/**
 * Makes the user manager outlive the last logout, if it does not already and crabup may change it. Records
 * that crabup enabled it. Returns whether lingering is on now.
 */
export async function enableLinger(
  host: UpHost,
  folder: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (isLingering(folder)) return true
  if (!(await loginctl(host, 'enable-linger', signal))) return false
  await replaceFile(markPath(host), '')
  return true
}

/** Reverts enableLinger(); lingering that was enabled by other means stays on. */
export async function disableLinger(host: UpHost, signal: AbortSignal): Promise<void> {
  if (!existsSync(markPath(host))) return
  await loginctl(host, 'disable-linger', signal)
  await rm(markPath(host), { force: true })
}

/** The record belongs to the user, not to a home: several homes share one user manager. */
function markPath({ env, homeDir }: UpHost): string {
  return join(env['XDG_STATE_HOME'] || join(homeDir, '.local/state'), 'crabtalk/linger')
}

async function loginctl(
  host: UpHost,
  verb: 'enable-linger' | 'disable-linger',
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (
      (await host.run(toLoginctl(verb), { env: systemdEnv(host), timeoutMs: LOGINCTL_MS }, signal)).code === 0
    )
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError)) throw reason
    return false // loginctl is missing or hangs: treated like a refusal
  }
}

const LOGINCTL_MS = 10_000
