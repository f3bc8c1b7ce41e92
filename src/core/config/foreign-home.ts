import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import type { HomePaths } from './paths.ts'

/**
 * Returns the file that identifies a home of the Rust implementation, relative to the home; undefined for a
 * home of this program.
 *
 * The agents of the Rust implementation are in `local/settings.toml`, or in a manifest or registry of older
 * releases, and their prompts in `agents/<ulid>/prompt.md`. This program uses none of these names.
 */
export async function findForeignMark({ home, agents }: HomePaths): Promise<string | undefined> {
  const names = await namesIn(agents)
  const prompts = names.filter((name) => ULID.test(name)).map((name) => join('agents', name, 'prompt.md'))
  // Beside agent files, the registry is an old one of this program; see migrateServers().
  const hasAgents = names.some((name) => name.endsWith('.toml'))
  const marks = [...MARKS, ...(hasAgents ? [] : [REGISTRY]), ...prompts.slice(0, 1)]
  const present = await Promise.all(marks.map((mark) => exists(join(home, mark))))
  return marks.find((_, i) => present[i])
}

/**
 * Throws `config` when the home belongs to the Rust implementation. Such a home is neither read nor written.
 */
export async function refuseForeignHome(paths: HomePaths): Promise<void> {
  const mark = await findForeignMark(paths)
  if (mark === undefined) return
  const why = `it is the home of the Rust crabtalk (it has ${mark}), which is not changed`
  throw new CrabError('config', `Cannot use ${paths.home}: ${why}`, { hint: foreignHomeHint(paths) })
}

/** Returns a hint that explains how to use another home, and how to copy one of the agents there. */
export function foreignHomeHint({ home }: HomePaths): string {
  const prompt = join(home, 'agents', 'ID', 'prompt.md')
  return `set CRABTALK_HOME to another directory; to take an agent along, run there: crabtalk agent create NAME --prompt @${prompt}`
}

async function namesIn(path: string): Promise<string[]> {
  return await readdir(path).catch(() => []) // an unreadable folder is reported where it is needed
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // missing or inaccessible: not a mark
  )
}

const MARKS = ['local/settings.toml', 'local/CrabTalk.toml', 'local/agents']
const REGISTRY = 'mcps.toml'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
