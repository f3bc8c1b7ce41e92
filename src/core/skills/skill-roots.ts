import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { HomePaths } from '../config/paths.ts'
import type { SkillRoot } from './scan-skills.ts'

/**
 * Returns the folders that are searched for skills, in order of precedence. Those of a project are not
 * included.
 */
export function skillRoots(
  { home, skills }: Pick<HomePaths, 'home' | 'skills'>,
  homeDir: string,
  { skillDirs }: Pick<Config, 'skillDirs'>,
): SkillRoot[] {
  const further = skillDirs.map((dir) => {
    const path = homeDir === '' ? dir : dir.replace(/^~(?=$|[\\/])/, homeDir)
    return resolve(home, path)
  })
  const others = ['.agents', '.claude', '.codex'].map((name) => join(homeDir, name, 'skills'))
  const paths = new Set([skills, ...further, ...(homeDir === '' ? [] : others)])
  return [...paths].map((path) => ({ path, isOwn: isIn(path, home) && !others.includes(path) }))
}

function isIn(path: string, folder: string): boolean {
  const relativePath = relative(folder, path)
  return relativePath !== '' && relativePath.split(/[\\/]/)[0] !== '..' && !isAbsolute(relativePath)
}
