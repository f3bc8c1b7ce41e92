import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { isMissing } from '../base/system-error.ts'
import { readFrontMatter } from './front-matter.ts'
import { walkFolders } from './walk-folders.ts'

/** A folder in which skills are looked for, or that is one. */
export interface SkillRoot {
  /** Absolute. */
  path: string
  /** Of crabtalk, or of another program. */
  isOwn: boolean
}

/** What an agent can be taught (agentskills.io). */
export interface Skill {
  name: string
  description: string
  /** Its folder, absolute. */
  folder: string
  root: SkillRoot
  /** Whether a model may fetch it by itself; else only people name it (`disable-model-invocation: true`). */
  isForModel: boolean
}

/** A folder that looks like a skill, and is none. */
export interface SkillProblem {
  /** Of its SKILL.md. */
  path: string
  /** 1-based. */
  line: number
  message: string
}

/**
 * What the roots have, in folders of folders too; inside a skill no further one is looked for. A root that is not there has
 * none. Of several skills with one name the first counts, and another that says something else is a problem. Never fails.
 */
export async function scanSkills(
  roots: readonly SkillRoot[],
): Promise<{ skills: Skill[]; problems: SkillProblem[] }> {
  const found = (await Promise.all(roots.map(scanRoot))).flat()
  const byName = new Map<string, ParsedSkill>()
  const problems: SkillProblem[] = []
  for (const one of found) {
    if ('message' in one) problems.push(one)
    else if (!byName.has(one.skill.name)) byName.set(one.skill.name, one)
    else problems.push(...shadowed(one, byName.get(one.skill.name)!))
  }
  const skills = [...byName.values()].map(({ skill }) => skill)
  return { skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

interface ParsedSkill {
  skill: Skill
  /** All of its SKILL.md. */
  text: string
}

/** Programs link, or copy, one skill into the folders of several: nothing is lost then. */
function shadowed({ skill, text }: ParsedSkill, first: ParsedSkill): SkillProblem[] {
  if (text === first.text) return []
  const message = `it is not used: there is a "${skill.name}" in ${first.skill.folder}, too`
  return [toProblem(join(skill.folder, 'SKILL.md'), 1, message)]
}

async function scanRoot(root: SkillRoot): Promise<(ParsedSkill | SkillProblem)[]> {
  const itself = await readSkill(root.path, root)
  if (itself) return [itself]
  try {
    const { found, isCut } = await walkFolders(root.path, (folder) => readSkill(folder, root), MAX_FOLDERS)
    return isCut
      ? [...found, toProblem(root.path, 1, `only its first ${MAX_FOLDERS} folders are looked at`)]
      : found
  } catch (reason) {
    if (isMissingFile(reason)) return []
    return [toProblem(root.path, 1, toStorageError('it cannot be read', reason).message)]
  }
}

/** Undefined for a folder without SKILL.md, and for a file. */
async function readSkill(folder: string, root: SkillRoot): Promise<ParsedSkill | SkillProblem | undefined> {
  const path = join(folder, 'SKILL.md')
  try {
    const { size, isFile } = await statFile(path)
    if (!isFile) return toProblem(path, 1, 'it is no file')
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
  return { size: stats.size, isFile: stats.isFile() } // a pipe would be read for ever
}

/**
 * What is wrong with what a SKILL.md says of itself, as a sentence; undefined when nothing is. Names need not be those of
 * their folders: other programs do not insist on it either.
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

/** Of a root: each costs some time of every turn. */
const MAX_FOLDERS = 2000
const MAX_BYTES = 2 ** 20
/** Ten times what agentskills.io has, which is exceeded; models are shown its beginning. */
const MAX_DESCRIPTION = 10_000
