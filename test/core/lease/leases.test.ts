import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate as settle } from 'node:timers/promises'
import fc from 'fast-check'
import { CrabError } from '../../../src/core/base/errors.ts'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import type { Lease, Leases } from '../../../src/core/lease/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const never = new AbortController().signal

for (const [name, open] of [
  ['MemoryLeases', openMemory],
  ['SqliteLeases', openSqlite],
] as const) {
  describe(name, () => {
    test('take() grants a free resource immediately, with any name', async () => {
      await using opened = await open()
      for (const resource of ['turn:a', 'turn:A', '', '\0', 'pair:x:ü 🦀\n', 'x'.repeat(10_000)]) {
        await using _lease = await opened.leases.take(resource, never)
      }
    })

    test('take() grants different resources at the same time', async () => {
      await using opened = await open()
      await using _one = await opened.leases.take('one', never)
      await using _two = await opened.leases.take('two', never)
    })

    test('take() serves waiters in order', async () => {
      await using opened = await open()
      const order: number[] = []
      const takers = Array.from({ length: 20 }, async (_, index) => {
        await using _lease = await opened.leases.take('one', never)
        order.push(index)
        await settle()
      })
      await Promise.all(takers)
      assert.deepEqual(order, [...order.keys()])
    })

    test('take() throws cancelled when it is aborted, and later waiters move up', async () => {
      await using opened = await open()
      const abort = new AbortController()
      const holder = await opened.leases.take('one', never)
      const waiter = opened.leases.take('one', abort.signal)
      const next = opened.leases.take('one', never)
      abort.abort()
      await assert.rejects(waiter, { name: 'CrabError', kind: 'cancelled' })
      await holder[Symbol.asyncDispose]()
      await (await next)[Symbol.asyncDispose]()
    })

    test('take() throws the CrabError it is aborted with', async () => {
      await using opened = await open()
      const late = new CrabError('timeout', 'Cannot wait longer')
      const abort = new AbortController()
      await using _holder = await opened.leases.take('one', never)
      const waiter = opened.leases.take('one', abort.signal)
      abort.abort(late)
      await assert.rejects(waiter, late)
      await assert.rejects(opened.leases.take('two', AbortSignal.abort(late)), late)
    })

    test('take() takes nothing with a signal that is already aborted', async () => {
      await using opened = await open()
      await assert.rejects(opened.leases.take('one', AbortSignal.abort()), { kind: 'cancelled' })
      await using _lease = await opened.leases.take('one', never)
    })

    test('take() keeps a granted lease when the signal is aborted later', async () => {
      await using opened = await open()
      const abort = new AbortController()
      await using _lease = await opened.leases.take('one', abort.signal)
      abort.abort()
      const next = watch(opened.leases.take('one', never))
      await settle()
      assert.equal(next.lease, undefined)
    })

    test("disposing a lease twice does not release the next holder's lease", async () => {
      await using opened = await open()
      const first = await opened.leases.take('one', never)
      await first[Symbol.asyncDispose]()
      await using _second = await opened.leases.take('one', never)
      await first[Symbol.asyncDispose]()
      const third = watch(opened.leases.take('one', never))
      await settle()
      assert.equal(third.lease, undefined)
    })

    test('disposing rejects waiters and later takers', async () => {
      const opened = await open()
      const holder = await opened.leases.take('one', never)
      const waiter = opened.leases.take('one', never)
      const refused = assert.rejects(waiter, { kind: 'unavailable' })
      await opened[Symbol.asyncDispose]()
      await refused
      await assert.rejects(opened.leases.take('one', never), { kind: 'unavailable' })
      await holder[Symbol.asyncDispose]()
    })

    test('any sequence of takes, releases and aborts grants what a simple queue would', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          await using opened = await open()
          await runAgainstModel(opened.leases, steps)
        }),
        { numRuns: propertyRuns(600, 60) },
      )
    })
  })
}

type Step = { act: 'take'; resource: string } | { act: 'release' | 'abort'; pick: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('take' as const), resource: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ act: fc.constantFrom('release' as const, 'abort' as const), pick: fc.nat(50) }),
)

interface Taker {
  watched: { lease?: Lease; failure?: unknown }
  abort: AbortController
}

async function runAgainstModel(leases: Leases, steps: readonly Step[]): Promise<void> {
  const queues = new Map<string, Taker[]>([
    ['a', []],
    ['b', []],
    ['c', []],
  ])
  for (const step of steps) {
    if (step.act === 'take') {
      const abort = new AbortController()
      queues.get(step.resource)!.push({ watched: watch(leases.take(step.resource, abort.signal)), abort })
    } else {
      await remove(queues, step)
    }
    await settle()
    for (const queue of queues.values()) {
      assert.deepEqual(
        queue.map(({ watched }) => watched.lease !== undefined),
        queue.map((_, index) => index === 0),
      )
    }
  }
}

/** Ends one taker of the model: a holder releases, a waiter aborts; does nothing when none exists. */
async function remove(
  queues: Map<string, Taker[]>,
  step: Step & { act: 'release' | 'abort' },
): Promise<void> {
  const isHolder = step.act === 'release'
  const found = [...queues.values()].flatMap((queue) =>
    queue.filter((_, index) => (index === 0) === isHolder).map((taker) => ({ queue, taker })),
  )
  if (found.length === 0) return
  const { queue, taker } = found[step.pick % found.length]!
  queue.splice(queue.indexOf(taker), 1)
  if (isHolder) {
    await taker.watched.lease![Symbol.asyncDispose]()
  } else {
    taker.abort.abort()
    await settle()
    assert.equal((taker.watched.failure as { kind?: string }).kind, 'cancelled')
  }
}

function watch(taking: Promise<Lease>): { lease?: Lease; failure?: unknown } {
  const watched: { lease?: Lease; failure?: unknown } = {}
  taking.then(
    (lease) => {
      watched.lease = lease
    },
    (failure: unknown) => {
      watched.failure = failure
    },
  )
  return watched
}

interface Opened extends AsyncDisposable {
  leases: Leases
}

async function openMemory(): Promise<Opened> {
  const leases = new MemoryLeases()
  return { leases, [Symbol.asyncDispose]: () => leases[Symbol.asyncDispose]() }
}

async function openSqlite(): Promise<Opened> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const leases = new SqliteLeases({
    database: join(dir.path, 'run', 'leases.db'),
    proc: join(dir.path, 'run', 'proc'),
    pid: 1,
  })
  return {
    leases,
    async [Symbol.asyncDispose]() {
      await leases[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}
