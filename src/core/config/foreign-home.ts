import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import type { HomePaths } from './paths.ts'

/**
 * What shows that a home belongs to the Rust reference: a path relative to it, or undefined.
 *
 * Its agents live in `local/settings.toml`, or in a manifest or registry of older releases, and their prompts in
 * `agents/<ulid>/prompt.md`; nothing of ours has these names.
 */
export async function findForeignMark({ home, agents }: HomePaths): Promise<string | undefined> {
  const names = await namesIn(agents)
  const prompts = names.filter((name) => ULID.test(name)).map((name) => join('agents', name, 'prompt.md'))
  const hasAgents = names.some((name) => name.endsWith('.toml')) // then the registry is that of ours: migrateServers()
  const marks = [...MARKS, ...(hasAgents ? [] : [REGISTRY]), ...prompts.slice(0, 1)]
  const found = await Promise.all(marks.map((mark) => exists(join(home, mark))))
  return marks.find((_, i) => found[i])
}

/** Throws `config` when the home is the Rust reference's: it is read by nobody here and never written. */
export async function refuseForeignHome(paths: HomePaths): Promise<void> {
  const mark = await findForeignMark(paths)
  if (mark === undefined) return
  const why = `it is the home of the Rust crabtalk (it has ${mark}) and is left as it is`
  throw new CrabError('config', `Cannot use ${paths.home}: ${why}`, { hint: foreignHomeHint(paths) })
}

/** Explains how to work beside the home of another program, and how to take over one of its agents. */
export function foreignHomeHint({ home }: HomePaths): string {
  const prompt = join(home, 'agents', 'ID', 'prompt.md')
  return `set CRABTALK_HOME to another directory; there, take an agent along with: crabtalk agent create NAME --prompt @${prompt}`
}

async function namesIn(path: string): Promise<string[]> {
  return await readdir(path).catch(() => []) // a folder that cannot be read is reported by who needs it
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // not there, or not to be looked at: no mark either way
  )
}

const MARKS = ['local/settings.toml', 'local/CrabTalk.toml', 'local/agents']
const REGISTRY = 'mcps.toml'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
