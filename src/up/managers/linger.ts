import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { userName } from '../../core/base/user.ts'
import type { ManagerCommand, UpHost } from '../types.ts'
import { systemdEnv } from './systemd-env.ts'

/** What a person runs where we may not. */
export const LINGER_COMMAND = 'loginctl enable-linger'

/** What we run ourselves: it asks nobody for a password. */
export function toLoginctl(verb: 'enable-linger' | 'disable-linger'): ManagerCommand {
  return ['loginctl', '--no-ask-password', verb]
}

/** Whether the user manager outlives the last logout: login services keep a file for each such person. */
export function isLingering(folder = '/var/lib/systemd/linger'): boolean {
  const name = userName()
  return name !== undefined && existsSync(join(folder, name))
}

/**
 * Has the user manager outlive the last logout, where it does not yet and we may ask for it; whether it does now. That
 * it was us is written down.
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

/** Takes back what enableLinger() did; what somebody else did stays. */
export async function disableLinger(host: UpHost, signal: AbortSignal): Promise<void> {
  if (!existsSync(markPath(host))) return
  await loginctl(host, 'disable-linger', signal)
  await rm(markPath(host), { force: true })
}

/** It is the person's, not a home's: several homes share one user manager. */
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
    return false // no loginctl, or one that hangs: told as any refusal
  }
}

const LOGINCTL_MS = 10_000
