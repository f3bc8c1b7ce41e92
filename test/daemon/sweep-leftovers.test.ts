import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ulid } from 'ulid'
import { newSiblingName } from '../../src/core/hooks/files/sibling.ts'
import { MemoryLeases } from '../../src/core/lease/memory-leases.ts'
import { sweepAbandoned, sweepHome } from '../../src/daemon/sweep-leftovers.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

test('a daemon removes the temporary files that a killed process left beside its target, and nothing else', async () => {
  await using home = await temporaryHome()
  const project = join(home.paths.home, '..', 'project')
  const target = join(project, 'notes.md')
  await mkdir(project, { recursive: true })
  const aged = (name: string) => name.replace(/[^-]+(?=\.tmp$)/, ulid(Date.now() - 61_000))
  const young = newSiblingName(target) // a process of another home may be writing it now
  const retainedNames = [
    aged(newSiblingName(join(project, 'other.md'))),
    young,
    'notes.md',
    '.crab-draft.tmp',
  ]
  for (const name of [aged(newSiblingName(target)), ...retainedNames])
    await writeFile(join(project, name), 'half')
  await killHolder(home.paths.run, `file:${target}`)
  await using _daemon = await startTestDaemon(home)
  await until('the leftover is gone', async () => (await readdir(project)).length === retainedNames.length)
  assert.deepEqual((await readdir(project)).toSorted(), retainedNames.toSorted())
})

test('sweepHome() removes the temporary files of killed writers once they are a minute old', async () => {
  await using home = await temporaryHome()
  const now = Date.now()
  const [old, young] = [now - 61_000, now - 59_000].map((time) => `01.jsonl.${ulid(time)}.tmp`) as [
    string,
    string,
  ]
  const retainedNames = [young, '01.jsonl', 'mine.tmp', `${ulid(1)}.jsonl`]
  for (const name of [old, ...retainedNames]) await home.write(join('sessions', name), 'half')
  await home.write(`config.toml.${ulid(old.length)}.tmp`, 'half')
  await sweepHome(home.paths, now)
  assert.deepEqual((await readdir(home.paths.sessions)).toSorted(), retainedNames.toSorted())
  assert.deepEqual(await readdir(home.paths.home), ['sessions'])
})

test('sweepAbandoned() removes young temporary files once they are a minute old', async () => {
  await using home = await temporaryHome()
  const target = join(home.paths.home, 'notes.md')
  await home.write('notes.md', 'whole')
  await home.write(newSiblingName('notes.md'), 'half')
  let now = Date.now()
  const ports = {
    leases: new MemoryLeases(),
    now: () => now,
    async wait(ms: number) {
      assert.equal((await readdir(home.paths.home)).length, 2)
      now += ms + 1
    },
  }
  await sweepAbandoned([`file:${target}`, 'turn:x'], ports, new AbortController().signal)
  assert.deepEqual(await readdir(home.paths.home), ['notes.md'])
})

/** Leaves the lease of a process that was killed while it held it. */
async function killHolder(run: string, resource: string): Promise<void> {
  const program = join(import.meta.dirname, '../core/lease/lease-program.ts')
  const child: ChildProcess = spawn(process.execPath, [program, run], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin!.write(`take ${resource}\n`)
  await once(child.stdout!, 'data') // it holds the lease
  child.kill('SIGKILL')
  await once(child, 'close')
}
