import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import type { Lease } from '../../../src/core/lease/types.ts'

/**
 * Takes leases as its standard input says, and reports on its standard output.
 *
 * `take R` → `held R` or `failed KIND`, `abort R`, `release R` → `released R`, `race R N` → `raced`, `spin R`
 * → `spinning`; exits at the end of its input.
 */
const run = process.argv[2]!
await using leases = new SqliteLeases({
  database: join(run, 'leases.db'),
  proc: join(run, 'proc'),
  pid: process.pid,
})
const taken = new Map<string, { abort: AbortController; lease?: Lease }>()

for await (const line of createInterface({ input: process.stdin })) {
  const [act, resource = '', count] = line.split(' ')
  if (act === 'take') take(resource).catch((reason) => say(`failed ${reason.kind ?? reason}`))
  else if (act === 'abort') taken.get(resource)?.abort.abort()
  else if (act === 'release') await release(resource)
  else if (act === 'race') await race(resource, Number(count))
  else if (act === 'spin') await spin(resource)
}

async function take(resource: string): Promise<void> {
  const abort = new AbortController()
  taken.set(resource, { abort })
  const lease = await leases.take(resource, abort.signal)
  taken.set(resource, { abort, lease })
  say(`held ${resource}`)
}

async function release(resource: string): Promise<void> {
  await taken.get(resource)?.lease?.[Symbol.asyncDispose]()
  say(`released ${resource}`)
}

/** Takes a resource many times, and detects another holder by its mark. */
async function race(resource: string, count: number): Promise<void> {
  const mark = join(run, 'mark')
  for (let index = 0; index < count; index += 1) {
    await using _lease = await leases.take(resource, new AbortController().signal)
    writeFileSync(mark, '', { flag: 'wx' })
    rmSync(mark)
  }
  say('raced')
}

/** Takes and releases it in an endless loop. */
async function spin(resource: string): Promise<never> {
  say('spinning')
  for (;;) {
    await using _lease = await leases.take(resource, new AbortController().signal)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
