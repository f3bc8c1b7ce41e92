import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { isMissing } from '../base/system-error.ts'
import { readFrontMatter } from './front-matter.ts'
import { walkFolders } from './walk-folders.ts'

/** A folder that is searched for skills, or that is a skill itself. */
export interface SkillRoot {
  /** The path, absolute. */
  path: string
  /** Whether it belongs to crabtalk rather than to another program. */
  isOwn: boolean
}

/** A skill (agentskills.io): instructions that an agent can load. */
export interface Skill {
  name: string
  description: string
  /** The path of its folder, absolute. */
  folder: string
  root: SkillRoot
  /** Whether a model may load it by itself. Otherwise (`disable-model-invocation: true`) only users can. */
  isForModel: boolean
}

/** A folder that looks like a skill but is not valid. */
export interface SkillProblem {
  /** The path of its SKILL.md. */
  path: string
  /** The line, 1-based. */
  line: number
  message: string
}

/**
 * Finds the skills in the roots, including nested folders but not inside of skills. A missing root is empty.
 * Of several skills with the same name the first one counts, and a later one with other content is a problem.
 * Never throws.
 */
export async function scanSkills(
  roots: readonly SkillRoot[],
): Promise<{ skills: Skill[]; problems: SkillProblem[] }> {
  const entries = (await Promise.all(roots.map(scanRoot))).flat()
  const byName = new Map<string, ParsedSkill>()
  const problems: SkillProblem[] = []
  for (const one of entries) {
    if ('message' in one) problems.push(one)
    else if (!byName.has(one.skill.name)) byName.set(one.skill.name, one)
    else problems.push(...reportShadowed(one, byName.get(one.skill.name)!))
  }
  const skills = [...byName.values()].map(({ skill }) => skill)
  return { skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

interface ParsedSkill {
  skill: Skill
  /** The complete SKILL.md. */
  text: string
}

/**
 * Reports a skill that another of the same name hides. An identical copy is not a problem: programs link or
 * copy one skill into several folders.
 */
function reportShadowed({ skill, text }: ParsedSkill, first: ParsedSkill): SkillProblem[] {
  if (text === first.text) return []
  const message = `it is not used: ${first.skill.folder} also has a "${skill.name}"`
  return [toProblem(join(skill.folder, 'SKILL.md'), 1, message)]
}

async function scanRoot(root: SkillRoot): Promise<(ParsedSkill | SkillProblem)[]> {
  const itself = await readSkill(root.path, root)
  if (itself) return [itself]
  try {
    const { found, isCut } = await walkFolders(root.path, (folder) => readSkill(folder, root), MAX_FOLDERS)
    return isCut
      ? [...found, toProblem(root.path, 1, `only its first ${MAX_FOLDERS} folders are read`)]
      : found
  } catch (reason) {
    if (isMissingFile(reason)) return []
    return [toProblem(root.path, 1, toStorageError('it cannot be read', reason).message)]
  }
}

/** Reads the skill in a folder; undefined for a folder without SKILL.md, and for a file. */
async function readSkill(folder: string, root: SkillRoot): Promise<ParsedSkill | SkillProblem | undefined> {
  const path = join(folder, 'SKILL.md')
  try {
    const { size, isFile } = await statFile(path)
    if (!isFile) return toProblem(path, 1, 'it is not a file')
    if (size > MAX_BYTES) return toProblem(path, 1, `it has more than ${MAX_BYTES / 2 ** 20} MiB`)
    const text = await readFile(path, 'utf8')
    const matter = readFrontMatter(text)
    if (!matter.ok) return toProblem(path, matter.line, matter.message)
    const [name = '', description = ''] = ['name', 'description'].map((key) => matter.texts.get(key)?.trim())
    const wrong = validateSkill(name, description)
    if (wrong !== undefined) return toProblem(path, 1, wrong)
    const isForModel = matter.texts.get('disable-model-invocation')?.toLowerCase() !== 'true'
    return { skill: { name, description, folder, root, isForModel }, text }
  } catch (reason) {
    if (isMissing(reason)) return undefined
    return toProblem(path, 1, toStorageError('it cannot be read', reason).message)
  }
}

async function statFile(path: string): Promise<{ size: number; isFile: boolean }> {
  const stats = await stat(path)
  return { size: stats.size, isFile: stats.isFile() } // reading a pipe would never end
}

/**
 * Returns the problem with the name or description in a SKILL.md, as a sentence; undefined when both are
 * valid. Names may differ from those of their folders, because other programs do not require a match either.
 */
export function validateSkill(name: string, description: string): string | undefined {
  if (name === '') return 'it has no "name"'
  if (!/^[\p{L}\p{N}]([\p{L}\p{N} _.-]{0,62}[\p{L}\p{N}])?$/u.test(name)) {
    return 'its "name" is not made of at most 64 letters, digits and hyphens'
  }
  if (description === '') return 'it has no "description"'
  return description.length > MAX_DESCRIPTION
    ? `its "description" has more than ${MAX_DESCRIPTION} characters`
    : undefined
}

function toProblem(path: string, line: number, message: string): SkillProblem {
  return { path, line, message }
}

/** The maximum number of folders per root; each costs some time in every turn. */
const MAX_FOLDERS = 2000
const MAX_BYTES = 2 ** 20
/** Ten times the limit of agentskills.io, which existing skills exceed. Models are shown the beginning. */
const MAX_DESCRIPTION = 10_000
