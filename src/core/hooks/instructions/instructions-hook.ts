import { lazy } from '../../base/lazy.ts'
import { wrapInTag } from '../../base/wrap-text.ts'
import { isInside } from '../../policy/paths.ts'
import type { ContextTurn, Hook } from '../../runtime/hook.ts'
import { findProject, type Project, type ProjectOwner } from '../../trust/find-project.ts'
import type { TrustStore } from '../../trust/trust-store.ts'
import { openProtectedPaths, type ProtectedPaths } from '../protected-paths.ts'
import { type InstructionFile, readFolder, readInstructions } from './read-instructions.ts'
import { selectTrusted } from './select-trusted.ts'

/** The sources of instruction files. */
export interface InstructionsOptions extends ProjectOwner {
  /** The home directory, links resolved; a project in it is ignored. */
  home: string
  /** The user's own Crab.md. */
  homeFile: string
  /**
   * Protected files, and folders with everything below them: instructions are never read from them, whatever
   * link leads there.
   */
  closed: readonly string[]
  trust: TrustStore
}

/**
 * Adds instruction files to the system prompt: the home's Crab.md, then one file of each folder from the root
 * of the project down to the working directory, as far as the user trusts the project (ADR 0151).
 */
export function instructionsHook(options: InstructionsOptions): Hook {
  return {
    async context(cwd, turn) {
      const closed = lazy(() => openProtectedPaths(options.closed))
      const [own, project] = await Promise.all([
        readHomeFile(options, closed.get),
        turn.trust === 'remote' ? undefined : findProject(cwd, options),
      ])
      if (own?.warning !== undefined && turn.trust !== 'remote') turn.notice(`${own.path}: ${own.warning}`)
      const isHome = project !== undefined && isInside(options.home, project.folders.at(-1)!)
      const files =
        project && !isHome ? await readProject(project, { options, closed: closed.get, turn }) : []
      return [...(own ? [own] : []), ...files].map(toBlock).filter(Boolean).join('\n')
    },
  }
}

async function readHomeFile(
  { uid, homeFile }: InstructionsOptions,
  closed: () => Promise<ProtectedPaths>,
): Promise<InstructionFile | undefined> {
  return await readInstructions(homeFile, { uid, linkRoot: undefined, closed })
}

async function readProject(
  project: Project,
  at: { options: InstructionsOptions; closed: () => Promise<ProtectedPaths>; turn: ContextTurn },
): Promise<readonly InstructionFile[]> {
  const { options, closed, turn } = at
  const access = { uid: options.uid, linkRoot: project.root, closed }
  const files = (await Promise.all(project.folders.map((folder) => readFolder(folder, access)))).flat()
  return files.length === 0 ? [] : await selectTrusted({ project, files, trust: options.trust }, turn)
}

function toBlock({ path, text }: InstructionFile): string {
  return text === undefined ? '' : wrapInTag('instructions', { from: path }, text)
}
