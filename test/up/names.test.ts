import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseServiceLabel, toServiceLabel } from '../../src/up/names.ts'

const USUAL = { home: '/home/me/.crabtalk', usualHome: '/home/me/.crabtalk' }
const OTHER = { home: '/srv/crab', usualHome: '/home/me/.crabtalk' }

test('parseServiceLabel() reverses toServiceLabel(), for the same home only', () => {
  for (const name of ['daemon', 'my-clock', 'a1']) {
    for (const place of [USUAL, OTHER])
      assert.equal(parseServiceLabel(toServiceLabel(name, place), place), name)
    assert.equal(parseServiceLabel(toServiceLabel(name, USUAL), OTHER), undefined)
    assert.equal(parseServiceLabel(toServiceLabel(name, OTHER), USUAL), undefined)
  }
  for (const label of ['', 'ai.crabtalk.', 'com.example.daemon', 'ai.crabtalk.a b']) {
    assert.equal(parseServiceLabel(label, USUAL), undefined, label)
  }
})
