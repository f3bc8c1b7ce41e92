import type { UpHost } from '../types.ts'

/** A Node of this machine. */
export interface NodeProgram {
  path: string
  /** As it says it: `v22.12.0`. */
  version: string
}

/** The Node at a path; undefined where it does not say its version. */
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
