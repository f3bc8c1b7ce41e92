import { mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askYesNo } from '../../cli/ask/confirm.ts'
import { openEditor } from '../../cli/editor.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { keepRejected } from '../../cli/rejected-file.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { isMissingFile } from '../../core/base/files.ts'
import { replaceLinked } from '../../core/config/agent-writes.ts'
import { findAgentProblems } from '../../core/config/find-problems.ts'
import { configError } from '../../core/config/validation-issue.ts'

/** A file of an agent, and the copy of it that the user edits. */
interface Draft {
  /** The path of the agent's file, which need not exist. */
  path: string
  copyPath: string
  /** The content of the agent's file when it was copied; undefined without a file. */
  before: string | undefined
  /** The file with the text that was rejected. */
  rejectedPath?: string
}

/**
 * Opens copies of both files of an agent in an editor, and saves them when they are valid. Rejected text is
 * kept in a file beside the agent's, and on a terminal the user may edit again. Returns whether anything
 * changed.
 */
export async function editAgentFiles(name: string, host: Host, signal: AbortSignal): Promise<boolean> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const { agents } = resolvePaths(host)
  const drafts = await Promise.all(
    ['.toml', '.md'].map((suffix) => copyFile(join(agents, name + suffix), join(folder.path, name + suffix))),
  )
  for (;;) {
    try {
      return await editOnce({ drafts, name, folder: folder.path }, host)
    } catch (reason) {
      const error = await keepText(drafts, name, toCrabError(reason))
      if (error.kind !== 'config' || !(await offersAgain(error, host, signal))) throw error
    }
  }
}

async function editOnce(
  { drafts, name, folder }: { drafts: readonly Draft[]; name: string; folder: string },
  host: Host,
): Promise<boolean> {
  const copies = drafts.map(({ copyPath }) => copyPath)
  await openEditor(copies, host)
  const problems = await findAgentProblems(folder, name)
  if (problems.length > 0) throw configError(problems)
  const changed = await findChanged(drafts)
  for (const { path, before } of changed) {
    if ((await readText(path)) === before) continue
    throw new CrabError('conflict', `Cannot change ${name}: ${path} was changed while you edited it`)
  }
  for (const { path, after } of changed) await replaceLinked(path, after)
  for (const { rejectedPath } of drafts)
    if (rejectedPath !== undefined) await rm(rejectedPath, { force: true })
  return changed.length > 0
}

async function copyFile(path: string, copyPath: string): Promise<Draft> {
  const before = await readText(path)
  if (before !== undefined) await writeFile(copyPath, before, { mode: 0o600 })
  return { path, copyPath, before }
}

/** Returns the drafts that the user changed, with their new text; ignores deleted copies. */
async function findChanged(drafts: readonly Draft[]): Promise<(Draft & { after: string })[]> {
  const read = drafts.map(async (draft) => ({ ...draft, after: await readText(draft.copyPath) }))
  return (await Promise.all(read)).flatMap(({ after, ...draft }) =>
    after === undefined || after === draft.before ? [] : [{ ...draft, after }],
  )
}

/** Writes changed text to files beside the agent's, and returns the error with their paths in its hint. */
async function keepText(drafts: readonly Draft[], name: string, error: CrabError): Promise<CrabError> {
  for (const { path, after } of await findChanged(drafts)) {
    const draft = drafts.find((one) => one.path === path)
    if (draft?.rejectedPath !== undefined) await rm(draft.rejectedPath, { force: true })
    if (draft) draft.rejectedPath = await keepRejected(path, after)
  }
  const paths = drafts.flatMap(({ rejectedPath }) => (rejectedPath === undefined ? [] : [rejectedPath]))
  if (paths.length === 0) return error
  const hint = [error.hint, `${name} is unchanged; your text is in ${paths.join(' and ')}`]
  return new CrabError(error.kind, error.message, {
    cause: error,
    hint: hint.filter((part) => part !== undefined).join('; '),
  })
}

/** Shows what is wrong and asks whether to edit again; false when the user cannot be asked. */
async function offersAgain(error: CrabError, host: Host, signal: AbortSignal): Promise<boolean> {
  return (await askYesNo(`${error.message}\nEdit again?`, { host, fallback: 'yes' }, signal)) ?? false
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw reason
  }
}
