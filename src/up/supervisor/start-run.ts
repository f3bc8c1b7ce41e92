import { closeSync } from 'node:fs'
import { toCrabError } from '../../core/base/errors.ts'
import { SERVICE_TAG } from '../../core/process/service-process.ts'
import { type DetachedProcess, startDetached } from '../../core/process/start-detached.ts'
import type { ServiceSpec } from '../types.ts'
import { readEnvFileSync } from './environment.ts'
import { appendLine, openOutput } from './output.ts'

/**
 * Starts a service in a session of its own. Its environment is `env`, overridden by the spec's, overridden by
 * the current content of its environment file, as in systemd. Throws `failed`; the reason is also appended to
 * its output.
 */
export async function startRun(
  { argv, cwd, env: own, envFile, output }: ServiceSpec,
  { mark, env }: { mark: string; env: Readonly<Record<string, string>> },
): Promise<DetachedProcess> {
  const fd = openOutput(output)
  try {
    return await startDetached({
      argv,
      cwd,
      env: { ...env, ...own, ...readEnvFileSync(envFile), [SERVICE_TAG]: mark },
      ...(fd !== undefined && { output: fd }),
    })
  } catch (reason) {
    if (fd !== undefined) appendLine(fd, toCrabError(reason).message)
    throw reason
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
