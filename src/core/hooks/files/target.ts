import { CrabError, type ErrorKind } from '../../base/errors.ts'
import { getErrorCode } from '../../base/system-error.ts'
import type { FolderAccess } from '../folder.ts'
import type { FileTool } from './arguments.ts'

/** The paths that tool calls never open, and the system's folder of open files. */
export interface FileAccess extends Pick<FolderAccess, 'fdLinks'> {
  /** Files, and folders with everything below them, that are never opened (ADR 0065). */
  closed: readonly string[]
}

/** The file of one tool call. */
export interface FileTarget extends FileAccess {
  tool: FileTool | 'undo'
  /** Absolute, links resolved: the path that was judged, and the only one that is touched. */
  path: string
  /** The path as the model wrote it. */
  shown: string
  /** Whether an answer may name another file; the path is absolute, without links. */
  mayShow(path: string): boolean
}

/** Builds an error of the form `Cannot read a.ts: why`. */
export function newFileError(
  { tool, shown }: FileTarget,
  kind: ErrorKind,
  why: string,
  { hint, cause }: { hint?: string; cause?: unknown } = {},
): CrabError {
  const options = { ...(hint !== undefined && { hint }), ...(cause !== undefined && { cause }) }
  return new CrabError(kind, `Cannot ${tool} ${shown}: ${why}`, options)
}

/** Returns how the folders of a call are opened, and the error for one that has moved. */
export function folderAccess(target: FileTarget): FolderAccess {
  const why = 'its path points elsewhere than when it was permitted'
  const moved = () => newFileError(target, 'conflict', why, { hint: 'try again' })
  return { fdLinks: target.fdLinks, moved }
}

/** The `conflict` error for a file that changed during the call. */
export function newChangedError(target: FileTarget): CrabError {
  return newFileError(target, 'conflict', 'another program is changing it right now', {
    hint: 'read it again',
  })
}

/**
 * Converts a failed system call to a CrabError; a CrabError, and anything that is not a system error, is
 * returned unchanged.
 */
export function toFileError(target: FileTarget, reason: unknown): unknown {
  const code = getErrorCode(reason)
  if (reason instanceof CrabError || !/^E[A-Z0-9]+$/.test(code)) return reason
  const known = REASONS[code] ?? { kind: 'failed', why: `the system reports ${code}` }
  return newFileError(target, known.kind, known.why, { cause: reason })
}

const REASONS: Record<string, { kind: ErrorKind; why: string }> = {
  ENOENT: { kind: 'missing', why: 'the file does not exist' },
  EACCES: { kind: 'failed', why: 'permission denied by the file system' },
  EPERM: { kind: 'failed', why: 'the system does not permit it' },
  EISDIR: { kind: 'invalid', why: 'it is a folder' },
  ENOTDIR: { kind: 'missing', why: 'a part of its path is a file' },
  ELOOP: { kind: 'invalid', why: 'its links form a loop' },
  ENAMETOOLONG: { kind: 'invalid', why: 'its name is too long for the file system' },
  ENOSPC: { kind: 'storage', why: 'the disk is full; nothing was changed' },
  EDQUOT: { kind: 'storage', why: 'the disk quota is used up; nothing was changed' },
  EFBIG: { kind: 'storage', why: 'it would be larger than this system allows' },
  EROFS: { kind: 'storage', why: 'the file system is read-only' },
  EIO: { kind: 'storage', why: 'the disk reports an error' },
  ETXTBSY: { kind: 'conflict', why: 'it is a program that is running' },
  EMFILE: { kind: 'failed', why: 'too many files are open' },
  ENFILE: { kind: 'failed', why: 'too many files are open' },
}
