import type { SeenVersions } from '../../policy/types.ts'
import type { KnownFiles } from '../../runtime/hook.ts'
import type { FileTool } from './arguments.ts'
import { type FileTarget, newFileError } from './target.ts'
import type { UndoQuota } from './undo/quota.ts'

/** Waits for an exclusive lock on a resource among all processes of the home; disposing releases it. */
export type Lock = (resource: string, signal: AbortSignal) => Promise<AsyncDisposable>

/** A permitted call of a file tool. */
export interface FileCall {
  target: FileTarget & { tool: FileTool }
  /** The versions that this conversation knows. */
  files: KnownFiles
  lock: Lock
  /** The folder and the limits of backups for undo; undefined when none are kept. */
  keep: { folder: string; limits: UndoQuota } | undefined
}

/** The result of a call that has changed a file: what the model reads, and the texts for a diff. */
export interface ChangeReport {
  output: string
  /** Empty for a new file and for a binary one. */
  before: string
  after: string
}

/** Locks the file of a call: no other crabtalk process of this home changes it in the meantime. */
export function lockTarget({ target, lock }: FileCall, signal: AbortSignal): Promise<AsyncDisposable> {
  return lock(`file:${target.path}`, signal)
}

/** Fails with `conflict` unless the conversation has seen this version of the file. */
export function requireSeenVersion(
  { target, files }: { target: FileTarget; files: SeenVersions },
  version: string,
): void {
  const known = files.get(target.path)
  if (known === version) return
  if (known !== undefined)
    throw newFileError(target, 'conflict', 'it has changed since you last saw it', { hint: 'read it again' })
  const why = target.tool === 'write' ? 'it exists, and you have not read it' : 'you have not read it'
  throw newFileError(target, 'conflict', why, { hint: 'read it first' })
}
