import type { UpHost } from '../types.ts'

/** An installed Node. */
export interface NodeProgram {
  path: string
  /** The version as Node prints it, such as `v22.12.0`. */
  version: string
}

/** Runs the Node at a path to find its version; undefined when it does not print one. */
export async function probeNode(
  path: string,
  { run, env }: Pick<UpHost, 'run' | 'env'>,
  signal: AbortSignal,
): Promise<NodeProgram | undefined> {
  const { stdout } = await run([path, '--version'], { env, timeoutMs: TIMEOUT_MS }, signal)
  const version = stdout.trim()
  return /^v\d+\.\d+\.\d+/.test(version) ? { path, version } : undefined
}

const TIMEOUT_MS = 10_000
