import { realpath } from 'node:fs/promises'
import { CrabError } from '../../base/errors.ts'
import { findGuard } from '../../policy/protected-paths.ts'
import type { Action, EditGuard } from '../../policy/types.ts'
import type { ToolDispatch, ToolOutput, ToolRequest } from '../../runtime/hook.ts'
import type { GuardedPlaces } from '../closed-places.ts'
import { contentOf, editsOf, type FileTool, pathOf, rangeOf } from './arguments.ts'
import { edit } from './edit.ts'
import type { FileCall, Lock } from './file-call.ts'
import type { KeepLimits } from './kept-room.ts'
import { locate } from './locate.ts'
import { refuseClosed } from './open-target.ts'
import { preview } from './preview.ts'
import { read } from './read.ts'
import { type FileAccess, type Target, toFileError } from './target.ts'
import { write } from './write.ts'

/** What all calls of the file tools share. */
export interface FileSetting extends FileAccess {
  /** The person's own directory, for `~/`; empty when there is none. */
  homeDir: string
  /** Held while a file is changed. */
  lock: Lock
  limits: KeepLimits
  guarded: GuardedPlaces
}

/** The file a call would touch, and how. Fails with `invalid` for its arguments, with `denied` for what is closed. */
export async function describe(
  tool: FileTool,
  { args, cwd }: ToolRequest,
  { homeDir, guarded, ...access }: FileSetting,
): Promise<Action> {
  const shown = pathOf(tool, args)
  const path = await locate(shown, { workspace: cwd, homeDir })
  const target = toTarget(tool, { path, shown, mayShow: () => false }, access, guarded)
  await refuseClosed(target)
  if (tool === 'read') {
    rangeOf(args)
    return { kind: 'read', path, shown }
  }
  const change = tool === 'write' ? { content: contentOf(args) } : { edits: editsOf(args) }
  const guard = await guardOf(path, { workspace: cwd, homeDir }, guarded)
  return { kind: 'edit', path, shown, diff: (seen) => preview(target, change, seen), ...(guard && { guard }) }
}

/** Makes a permitted call; a failure is an answer. */
export async function dispatch(
  tool: FileTool,
  { args, action, files, mayShow, keepDir }: ToolDispatch,
  { lock, limits, guarded, ...access }: FileSetting,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (action.kind !== 'read' && action.kind !== 'edit')
    throw new CrabError('internal', `Cannot ${tool}: it was judged as ${action.kind}`)
  const target = toTarget(tool, { ...action, mayShow }, access, guarded)
  try {
    const keep = keepDir === undefined ? undefined : { folder: keepDir, limits }
    return await run({ target, files, lock, keep }, args, signal)
  } catch (reason) {
    signal.throwIfAborted()
    const failure = toFileError(target, reason)
    if (!(failure instanceof CrabError)) throw failure
    const hint = failure.hint === undefined ? '' : ` (${failure.hint})`
    return { output: failure.message + hint, isError: true }
  }
}

async function run(call: FileCall, args: ToolDispatch['args'], signal: AbortSignal): Promise<ToolOutput> {
  switch (call.target.tool) {
    case 'read':
      return read(call, rangeOf(args), signal)
    case 'write':
      return { output: await write(call, contentOf(args), signal), isError: false }
    case 'edit':
      return { output: await edit(call, editsOf(args), signal), isError: false }
  }
}

/** Finds the protected path that a change of a file would touch; protected paths need not exist. */
async function guardOf(
  path: string,
  { workspace, homeDir }: { workspace: string; homeDir: string },
  { asked }: GuardedPlaces,
): Promise<EditGuard | undefined> {
  const real = (place: string) => realpath(place).catch(() => place)
  const [home, ...places] = await Promise.all(
    [homeDir, ...asked].map((place) => (place === '' ? '' : real(place))),
  )
  return findGuard(path, { workspace, homeDir: home ?? '', asked: places })
}

function toTarget(
  tool: FileTool,
  { path, shown, mayShow }: Pick<Target, 'path' | 'shown' | 'mayShow'>,
  { closed, fdLinks }: FileAccess,
  { sealed }: GuardedPlaces,
): FileCall['target'] {
  const refused = tool === 'read' ? closed : [...closed, ...sealed]
  return { tool, path, shown, mayShow, closed: refused, fdLinks }
}
