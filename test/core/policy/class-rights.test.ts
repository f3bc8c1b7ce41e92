import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rulesFor, turnFolder } from '../../../src/core/policy/class-rights.ts'
import { ruleList } from '../../support/policy-context.ts'

test('rulesFor() gives a class its own table and all restrictions', () => {
  const rules = ruleList([
    ...['allow bash', 'ask edit', 'deny read(.env)'],
    ...['remote allow recall', 'remote deny edit', 'unattended allow bash', 'unattended ask fetch'],
  ])
  const held = (trust: Parameters<typeof rulesFor>[0]) =>
    rulesFor(trust, rules).map(({ source }) => source.at(-1))
  assert.equal(held('local').join(''), '012')
  assert.equal(held('remote').join(''), '1234')
  assert.equal(held('unattended').join(''), '1256')
})

test('turnFolder() gives every remote pair and the unattended turns of an agent separate folders', () => {
  const folder = (sender: string, trust: Parameters<typeof turnFolder>[2], agentId = 'a') =>
    turnFolder('/w', { agent: 'crab', agentId, sender }, trust)
  assert.equal(folder('tg:1', 'local'), undefined)
  assert.equal(folder('tg:1', 'unattended'), '/w/crab/unattended')
  assert.match(folder('tg:1', 'remote')!, /^\/w\/crab\/[0-9a-f]{16}$/)
  const folders = ['tg:1', 'tg:2', '../../x', 'unattended', 'TG:1', 'tg:1\0'].map(
    (sender) => folder(sender, 'remote')!,
  )
  assert.equal(new Set([...folders, folder('tg:1', 'remote', 'b')]).size, 7)
  for (const one of folders) assert.match(one, /^\/w\/crab\/[0-9a-f]{16}$/)
})
