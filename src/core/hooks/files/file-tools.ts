import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../base/errors.ts'
import { resolvePath } from '../../policy/paths.ts'
import { findGuard } from '../../policy/protected-paths.ts'
import type { EditGuard, PolicyAction } from '../../policy/types.ts'
import type { ToolDispatch, ToolOutput, ToolRequest } from '../../runtime/hook.ts'
import type { GuardedPaths } from '../protected-paths.ts'
import {
  type FileTool,
  readContentArgument,
  readEditsArgument,
  readPathArgument,
  readRangeArgument,
} from './arguments.ts'
import { editFile } from './edit.ts'
import type { ChangeReport, FileCall, Lock } from './file-call.ts'
import { refuseClosed } from './open-target.ts'
import { preview, renderChange } from './preview.ts'
import { readFileTool } from './read.ts'
import { type FileAccess, type FileTarget, toFileError } from './target.ts'
import type { UndoQuota } from './undo/quota.ts'
import { write } from './write.ts'

/** The context that all calls of the file tools share. */
export interface FileToolContext extends FileAccess {
  /** The user's home directory, for `~/`; empty when there is none. */
  homeDir: string
  /** Held while a file is changed. */
  lock: Lock
  limits: UndoQuota
  guarded: GuardedPaths
}

/**
 * Describes the file that a call would touch, and how. Fails with `invalid` for bad arguments, with `denied`
 * for a protected path.
 */
export async function describe(
  tool: FileTool,
  { args, cwd }: ToolRequest,
  { homeDir, guarded, ...access }: FileToolContext,
): Promise<PolicyAction> {
  const shown = readPathArgument(tool, args)
  const path = await locate(shown, { workspace: cwd, homeDir })
  const target = toTarget(tool, { path, shown, mayShow: () => false }, access, guarded)
  await refuseClosed(target)
  if (tool === 'read') {
    readRangeArgument(args)
    return { kind: 'read', path, shown }
  }
  const change =
    tool === 'write' ? { content: readContentArgument(args) } : { edits: readEditsArgument(args) }
  const guard = await findEditGuard(path, { workspace: cwd, homeDir }, guarded)
  return { kind: 'edit', path, shown, diff: (seen) => preview(target, change, seen), ...(guard && { guard }) }
}

/** Runs a permitted call; a failure is returned as output. */
export async function dispatch(
  tool: FileTool,
  { args, action, files, mayShow, keepDir, needsDiff }: ToolDispatch,
  { lock, limits, guarded, ...access }: FileToolContext,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (action.kind !== 'read' && action.kind !== 'edit')
    throw new CrabError('internal', `Cannot ${tool}: it was checked as ${action.kind}`)
  const target = toTarget(tool, { ...action, mayShow }, access, guarded)
  try {
    const keep = keepDir === undefined ? undefined : { folder: keepDir, limits }
    const call = { target, files, lock, keep }
    if (tool === 'read') return await readFileTool(call, readRangeArgument(args), signal)
    const changed = await change(call, args, signal)
    const diff = needsDiff ? await renderChange(target, changed).catch(() => undefined) : undefined // it did change
    return { output: changed.output, isError: false, ...(diff !== undefined && { diff }) }
  } catch (reason) {
    signal.throwIfAborted()
    const failure = toFileError(target, reason)
    if (!(failure instanceof CrabError)) throw failure
    const hint = failure.hint === undefined ? '' : ` (${failure.hint})`
    return { output: failure.message + hint, isError: true }
  }
}

function change(call: FileCall, args: ToolDispatch['args'], signal: AbortSignal): Promise<ChangeReport> {
  return call.target.tool === 'write'
    ? write(call, readContentArgument(args), signal)
    : editFile(call, readEditsArgument(args), signal)
}

/** Finds the protected path that a change of a file would touch; protected paths need not exist. */
async function findEditGuard(
  path: string,
  { workspace, homeDir }: { workspace: string; homeDir: string },
  { alwaysAsk }: GuardedPaths,
): Promise<EditGuard | undefined> {
  const real = (one: string) => realpath(one).catch(() => one)
  const [home, ...paths] = await Promise.all(
    [homeDir, ...alwaysAsk].map((one) => (one === '' ? '' : real(one))),
  )
  return findGuard(path, { workspace, homeDir: home ?? '', alwaysAsk: paths })
}

function toTarget(
  tool: FileTool,
  { path, shown, mayShow }: Pick<FileTarget, 'path' | 'shown' | 'mayShow'>,
  { closed, fdLinks }: FileAccess,
  { sealed }: GuardedPaths,
): FileCall['target'] {
  const refused = tool === 'read' ? closed : [...closed, ...sealed]
  return { tool, path, shown, mayShow, closed: refused, fdLinks }
}

/**
 * Resolves the path that a model wrote to a file: as resolvePath() does, and if that is missing, to a file
 * whose name encodes the same accents with other code points. Models compose them, and some disks and
 * archives decompose them.
 */
async function locate(path: string, place: { workspace: string; homeDir: string }): Promise<string> {
  const resolved = await resolvePath(path, place)
  const onDisk = ASCII.test(resolved) ? resolved : await toNameOnDisk(resolved)
  return onDisk === resolved ? resolved : await resolvePath(onDisk, place) // the other name may be a link
}

const ASCII = /^\p{ASCII}*$/u

async function toNameOnDisk(path: string): Promise<string> {
  const folder = dirname(path)
  if (folder === path || (await isThere(path))) return path
  const parent = await toNameOnDisk(folder)
  const name = basename(path)
  const names = ASCII.test(name) ? [] : await readdir(parent).catch(() => []) // opening the path reports the reason
  const same = names.filter((other) => other.normalize('NFC') === name.normalize('NFC'))
  return join(parent, same.length === 1 ? same[0]! : name)
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
