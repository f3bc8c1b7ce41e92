import { readEnvFile } from '../core/config/env-file.ts'
import type { Host } from './host.ts'

/**
 * Returns the same host with the variables of a file added to its environment; existing variables take
 * precedence. See `readEnvFile()`.
 */
export async function withEnvFile(host: Host, path: string | undefined): Promise<Host> {
  if (path === undefined) return host
  const env = { ...(await readEnvFile(path)), ...host.env }
  const own = Object.getOwnPropertyDescriptors(host)
  return Object.defineProperties({} as Host, { ...own, env: { value: env, enumerable: true } })
}
