import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { HomePaths } from '../config/paths.ts'
import type { SkillRoot } from './scan-skills.ts'

/** Where skills are looked for (disk.md), what counts first at first; those of a project are not among them. */
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
  const way = relative(folder, path)
  return way !== '' && way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way)
}
