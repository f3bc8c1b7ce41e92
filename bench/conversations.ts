import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUlid } from '../src/core/base/ids.ts'
import { encodeHeader, encodeLines } from '../src/core/storage/session-file.ts'
import { toSessionFile, toSessionPrefix } from '../src/core/storage/session-id.ts'
import { type NewLine, SESSION_VERSION } from '../src/core/storage/types.ts'

/** Fills a home with `count` conversations of ten messages, each with another sender. */
export async function writeConversations(home: string, count: number): Promise<void> {
  const folder = join(home, 'sessions')
  await mkdir(folder, { recursive: true })
  const agentId = newUlid()
  const lines = Array.from({ length: 10 }, (_, at): NewLine => {
    const role = at % 2 === 0 ? 'user' : 'assistant'
    return { kind: 'entry', role, content: `message ${at}, of some words as they are said every day` }
  })
  for (let at = 0; at < count; at++) {
    const sender = `sender${at}`
    const now = Date.now() - at * 1000
    const header = {
      ...{ v: SESSION_VERSION, agent: 'crab', agent_id: agentId, created_by: sender },
      ...{ created_at: new Date(now).toISOString(), cwd: home },
    }
    const text = encodeHeader(header) + encodeLines(lines, 0, now).join('')
    await writeFile(join(folder, toSessionFile(toSessionPrefix({ agentId, sender }) + newUlid())), text)
  }
}
