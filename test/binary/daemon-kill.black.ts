import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { makeKillLoad } from '../support/kill-load.ts'

const ROUNDS = 3

test(`${ROUNDS} kills of a daemon with 50 streaming conversations lose nothing acknowledged, and every conversation continues`, async () => {
  await using load = await makeKillLoad()
  for (let round = 1; round <= ROUNDS; round++) {
    const { started, ended, cut } = await load.round()
    assert.ok(
      started >= 100 && ended >= 50 && cut > 0,
      `${started} turns started, ${ended} ended, ${cut} cut`,
    )
  }
  await load.finish()
  const { home, proc } = load.home.paths
  assert.deepEqual(await readdir(proc), [], 'locks of daemons are left')
  const names = await readdir(home, { recursive: true })
  assert.deepEqual(
    names.filter((name) => /\.(tmp|sock)$/.test(name)),
    [],
  )
})
