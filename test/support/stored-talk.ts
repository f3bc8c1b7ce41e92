import { homePaths } from '../../src/core/config/paths.ts'
import { DiskStorage } from '../../src/core/storage/disk-storage.ts'
import { type NewLine, SESSION_VERSION } from '../../src/core/storage/types.ts'

/** A conversation of an earlier date. */
export interface StoredTalk {
  /** The start, in milliseconds since 1970. */
  at: number
  agentId?: string
  sender?: string
  cwd?: string
  title?: string
  /** Messages of the user and the agent in turn, a minute apart. */
  said: readonly string[]
}

/** Writes conversations into a home in their stored form, and returns their ids. */
export async function writeStoredTalks(home: string, talks: readonly StoredTalk[]): Promise<string[]> {
  const paths = homePaths({ CRABTALK_HOME: home }, { cwd: home, homeDir: home })
  let now = 0
  const storage = new DiskStorage({ sessions: paths.sessions, index: paths.index, now: () => now })
  const ids: string[] = []
  for (const { at, agentId = AGENT_ID, sender = 'me', cwd = home, title, said } of talks) {
    now = at
    const header = {
      v: SESSION_VERSION,
      agent: 'crab',
      agent_id: agentId,
      created_by: sender,
      created_at: new Date(at).toISOString(),
      cwd,
    }
    let { id, cursor } = await storage.createSession(header, [])
    const titles: NewLine[] = title === undefined ? [] : [{ kind: 'meta', title }]
    const entries = said.map((content, index): NewLine => {
      return { kind: 'entry', role: index % 2 === 0 ? 'user' : 'assistant', content }
    })
    for (const line of [...entries, ...titles]) {
      cursor = await storage.append(id, cursor, [line])
      now += 60_000
    }
    ids.push(id)
  }
  return ids
}

const AGENT_ID = '01J00000000000000000000000'
