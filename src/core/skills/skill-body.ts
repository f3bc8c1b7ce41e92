import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { toStorageError } from '../base/files.ts'
import { stripFrontMatter } from './front-matter.ts'
import type { Skill } from './scan-skills.ts'

/**
 * Reads the current text of a skill from its SKILL.md. Throws `storage`, and `invalid` when it is larger than
 * 256 KiB.
 */
export async function readBody({ name, folder }: Pick<Skill, 'name' | 'folder'>): Promise<string> {
  const path = join(folder, 'SKILL.md')
  try {
    const stats = await stat(path)
    if (stats.isFile() && stats.size <= MAX_BYTES) return stripFrontMatter(await readFile(path, 'utf8'))
  } catch (reason) {
    throw toStorageError(`Cannot use the skill "${name}"`, reason)
  }
  throw new CrabError(
    'invalid',
    `Cannot use the skill "${name}": ${path} has more than ${MAX_BYTES / 1024} KiB`,
  )
}

/** The maximum size, about sixty thousand tokens. */
const MAX_BYTES = 256 * 1024
