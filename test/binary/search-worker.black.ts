import assert from 'node:assert/strict'
import { readdirSync, readFileSync, truncateSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { writeStoredTalks } from '../support/stored-talk.ts'
import { until } from '../support/until.ts'

/** Long enough to be indexed in a worker thread. */
const LONG = 'and so on, '.repeat(60_000)

test('a daemon indexes and saves in a worker thread, and the next daemon continues from there', async () => {
  await using box = await makeSandbox()
  await writeStoredTalks(box.home, [
    { at: Date.UTC(2026, 0, 1), said: ['the ferry to Hiddensee', LONG] },
    { at: Date.UTC(2026, 0, 2), said: ['the harbour of Stralsund', 'fine'] },
  ])
  {
    await using daemon = await startSandboxDaemon(box)
    await finds(box, 'hiddensee')
    if (platform() === 'linux') assert.ok(listThreads(daemon.pid).includes('crabtalk-search'))
  }
  const parts = listParts(box)
  assert.ok(parts.length > 3)
  assert.deepEqual(readWarnings(box), [])

  {
    await using _daemon = await startSandboxDaemon(box)
    await finds(box, 'stralsund')
  }
  assert.deepEqual(listParts(box), parts, 'nothing was to be saved')
  assert.deepEqual(readWarnings(box), [])

  truncateSync(join(box.home, 'index/search', parts[0]!), 50)
  await finds(box, 'hiddensee', {}) // without a daemon
  await using _daemon = await startSandboxDaemon(box)
  await finds(box, 'hiddensee')
  await until('the log tells', () => readWarnings(box).length > 0)
  assert.match(readWarnings(box).join('\n'), /^The search index in .+ is being rebuilt: [^\n]+$/)
})

/** Waits until everything is indexed. */
async function finds(
  box: Sandbox,
  word: string,
  env: Record<string, undefined> = WITH_DAEMON,
): Promise<void> {
  await until(`${word} is found`, async () => {
    const { stdout } = await box.run(['conversation', 'search', word], { env })
    return stdout.toLowerCase().includes(word)
  })
}

function listParts(box: Sandbox): string[] {
  return readdirSync(join(box.home, 'index/search'))
    .filter((name) => name.endsWith('.part'))
    .toSorted()
}

function readWarnings(box: Sandbox): string[] {
  const lines = readFileSync(join(box.home, 'logs/daemon.log'), 'utf8').trimEnd().split('\n')
  const records = lines.map((line) => JSON.parse(line) as { level: string; message: string })
  return records.filter(({ level }) => level === 'warn').map(({ message }) => message)
}

function listThreads(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim(),
  )
}
