import { toCrabError } from '../../base/errors.ts'
import { quoteWord } from '../../base/quote-word.ts'
import { escapeLine } from '../../base/visible.ts'
import type { ContextTurn } from '../../runtime/hook.ts'
import { type Project, pathInProject } from '../../trust/find-project.ts'
import type { ProjectTrust } from '../../trust/trust-file.ts'
import type { TrustStore } from '../../trust/trust-store.ts'
import type { InstructionFile } from './read-instructions.ts'

/** The existing instruction files of a project. */
interface ProjectFiles {
  project: Project
  files: readonly InstructionFile[]
  trust: TrustStore
}

/**
 * Returns the files that a turn may use. The user is notified of each new file, or asked about a new project,
 * once; a notice that cannot be stored is repeated.
 *
 * An unattended turn uses only the files of projects that the user has trusted explicitly.
 */
export async function selectTrusted(
  found: ProjectFiles,
  turn: ContextTurn,
): Promise<readonly InstructionFile[]> {
  try {
    const known = (await found.trust.read()).get(found.project.root)
    const state =
      known?.state ?? (turn.ask && hasText(found) ? await askUser(found, turn, turn.ask) : 'notified')
    if (state === 'untrusted') return []
    if (turn.trust === 'unattended' && state !== 'trusted') {
      turn.notice(`${UNATTENDED} ${command('add', found.project)}`)
      return []
    }
    await notifyNew(found, { state, notices: known?.notices ?? [] }, turn)
    return found.files
  } catch (reason) {
    turn.signal.throwIfAborted()
    turn.notice(
      `instruction files of ${escapeLine(found.project.root)} are not used: ${toCrabError(reason).message}`,
    )
    return []
  }
}

const UNATTENDED = 'instruction files are not used: this turn is unattended; to use them:'

/** Asks about a new project and stores the answer; without an answer its files are left out this time. */
async function askUser(
  { project, files, trust }: ProjectFiles,
  turn: ContextTurn,
  ask: NonNullable<ContextTurn['ask']>,
): Promise<ProjectTrust['state']> {
  const names = files.filter(({ text }) => text !== undefined).map((file) => shownName(project, file))
  const question = `Use the instruction files of ${escapeLine(project.root)}? ${names.join(', ')}`
  const options = [
    { label: YES, description: 'The model reads them in every turn here' },
    { label: NO, description: 'Work here without them' },
  ]
  const answers = await ask([{ question, header: 'Trust', options, multiSelect: false }])
  const answer = answers?.[question]
  if (answer !== YES && answer !== NO) return 'untrusted'
  const state = answer === YES ? 'trusted' : 'untrusted'
  if (!turn.ephemeral) await trust.setState(project.root, state, turn.signal)
  return state
}

const YES = 'Yes'
const NO = 'No'

/**
 * Notifies the user once which files are used, and which are not and why. Used files of a trusted project
 * need no notice.
 */
async function notifyNew(
  { project, files, trust }: ProjectFiles,
  { state, notices }: Pick<ProjectTrust, 'state' | 'notices'>,
  turn: ContextTurn,
): Promise<void> {
  const names = (list: readonly InstructionFile[]) => list.map((file) => shownName(project, file))
  const isNew = (notice: string) => !notices.includes(notice)
  const used = state === 'trusted' ? [] : names(files.filter(({ text }) => text !== undefined)).filter(isNew)
  const warnings = files
    .filter(({ warning }) => warning !== undefined)
    .map((file) => `${shownName(project, file)}: ${file.warning}`)
    .filter(isNew)
  if (used.length + warnings.length === 0) return
  const root = escapeLine(project.root)
  if (used.length > 0) {
    turn.notice(
      `uses the instructions of ${root}: ${used.join(', ')}; to stop this: ${command('remove', project)}`,
    )
  }
  for (const warning of warnings) turn.notice(`in ${root}, ${warning}`)
  if (turn.ephemeral) return
  await trust.addNotices(project.root, [...used, ...warnings], turn.signal).catch((reason: unknown) => {
    turn.signal.throwIfAborted()
    turn.notice(`this notice will appear again: ${toCrabError(reason).message}`)
  })
}

function hasText({ files }: ProjectFiles): boolean {
  return files.some(({ text }) => text !== undefined)
}

function shownName(project: Project, { path }: InstructionFile): string {
  return escapeLine(pathInProject(project, path))
}

function command(verb: 'add' | 'remove', { root }: Project): string {
  return `crabtalk trust ${verb} ${quoteWord(escapeLine(root))}`
}
