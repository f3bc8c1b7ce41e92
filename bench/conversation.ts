import { execFile } from 'node:child_process'
import { appendFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { markdownChunks } from './markdown.ts'
import type { Setting } from './setting.ts'

/**
 * Creates a conversation with `messages` messages, half of them Markdown answers, and returns its id. The
 * last answer is `lastWord`.
 */
export async function longConversation(
  { binary, env, cwd }: Setting,
  { messages, lastWord }: { messages: number; lastWord: string },
): Promise<string> {
  const folder = join(env['CRABTALK_HOME']!, 'sessions')
  const before = new Set(await readdir(folder).catch(() => []))
  const args = ['send', '--model', 'loopback-openai', '-s', 'long', '--no-stdin', 'say hi']
  await promisify(execFile)(binary, args, { env: { PATH: process.env['PATH'], ...env }, cwd })
  const file = (await readdir(folder)).find((name) => !before.has(name))!
  const answer = markdownChunks(20).slice(0, -1).join('')
  const lines = Array.from({ length: messages - 2 }, (_, at) => {
    const isLast = at === messages - 3
    const [role, content] =
      at % 2 === 0 ? ['user', `question ${at}`] : ['assistant', isLast ? lastWord : answer]
    const ts = new Date().toISOString()
    return JSON.stringify({ seq: at + 4, ts, kind: 'entry', role, content })
  })
  await appendFile(join(folder, file), `${lines.join('\n')}\n`)
  return file.replace(/\.jsonl$/, '')
}
