import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until a condition holds; fails when it does not within 30 s. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited 30 s until ${what}`)
    await sleep(5)
  }
}
