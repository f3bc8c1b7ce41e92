import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CrabError } from '../../src/core/base/errors.ts'
import { fileHook } from '../../src/core/hooks/files/file-hook.ts'
import type { UndoQuota } from '../../src/core/hooks/files/undo/quota.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'
import type { Leases } from '../../src/core/lease/types.ts'
import type { PolicyAction } from '../../src/core/policy/types.ts'
import type { KnownFiles, ToolOutput } from '../../src/core/runtime/hook.ts'
import { toolDispatch, toolRequest } from './dispatches.ts'

export interface FileToolsOptions {
  closed?: readonly string[]
  homeDir?: string
  fdLinks?: string
  leases?: Leases
  /** The files that the conversation knows; grows with each call. */
  files?: Map<string, string>
  mayShow?: (path: string) => boolean
  /** The folder of the undo store. */
  keepDir?: string
  limits?: UndoQuota
  /** Runs between the permission of a call and the call. */
  meanwhile?: (action: PolicyAction) => Promise<void>
}

/** A call of a tool: its name and arguments. */
export type Call = readonly [name: string, args: object]

/** The file tools of a turn in this folder, without permission questions. */
export interface FileTools {
  run(name: string, args: object, signal?: AbortSignal): Promise<ToolOutput>
  /** Returns the text of run() when the call succeeded, otherwise a text that begins with `!`. */
  say(name: string, args: object): Promise<string>
  describe(name: string, args: object): Promise<PolicyAction>
  files: Map<string, string>
}

export function fileTools(cwd: string, options: FileToolsOptions = {}): FileTools {
  const {
    closed = [],
    homeDir = '',
    leases = new MemoryLeases(),
    files = new Map<string, string>(),
    mayShow = () => true,
  } = options
  const hook = fileHook({
    closed,
    homeDir,
    lock: (resource, signal) => leases.take(resource, signal),
    ...(options.fdLinks !== undefined && { fdLinks: options.fdLinks }),
    ...(options.limits !== undefined && { limits: options.limits }),
  })
  const known: KnownFiles = {
    get: (path) => files.get(path),
    set: (path, version) => void files.set(path, version),
  }
  const describe = async (name: string, args: object) => {
    return (await hook.describe?.(name, toolRequest({ args: { ...args }, cwd })))!
  }
  const run = async (name: string, args: object, signal: AbortSignal = NEVER) => {
    try {
      const action = await describe(name, args)
      await options.meanwhile?.(action)
      return (await hook.dispatch?.(
        name,
        toolDispatch({ cwd, args: { ...args }, action, files: known, mayShow, keepDir: options.keepDir }),
        signal,
      ))!
    } catch (reason) {
      if (!(reason instanceof CrabError)) throw reason
      return { output: reason.message + (reason.hint ? ` (${reason.hint})` : ''), isError: true }
    }
  }
  const say = async (name: string, args: object) => {
    const { output, isError } = await run(name, args)
    return isError ? `!${output}` : output
  }
  return { run, say, describe, files }
}

/**
 * Returns the same as say(), from a separate process that is not the superuser. `limit` is a shell command
 * that sets its resource limits.
 */
export async function sayElsewhere(cwd: string, calls: readonly Call[], limit = ':'): Promise<string[]> {
  const program = fileURLToPath(new URL('file-tools-program.ts', import.meta.url))
  const command = ['-c', `${limit} && exec "$0" "$@"`, process.execPath, program, cwd, JSON.stringify(calls)]
  const { stdout } = await promisify(execFile)('sh', command, process.getuid?.() === 0 ? NOBODY : {})
  return JSON.parse(stdout) as string[]
}

/** A user that owns no files. */
export const NOBODY = { uid: 65_534, gid: 65_534 }

const NEVER = new AbortController().signal
