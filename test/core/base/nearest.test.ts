import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean, nearest } from '../../../src/core/base/nearest.ts'

for (const [word, candidates, meant] of [
  ['modle', ['mode', 'model'], 'model'],
  ['nmae', ['name', 'env'], 'name'],
  ['maxIterations', ['max_iterations', 'model'], 'max_iterations'],
  ['timeout', ['timeout_ms', 'tools'], 'timeout_ms'],
  ['CRAB', ['crab'], 'crab'],
  ['prompt', ['model', 'tools'], undefined],
  ['x', ['y'], undefined],
  ['foo', ['now', 'yes'], undefined],
  ['frob', ['cron'], undefined],
  ['sned', ['send'], 'send'],
  ['crb', ['crab'], 'crab'],
  ['evn', ['now', 'env'], 'env'],
  ['no', ['now', 'yes'], 'now'],
  ['nonsense', ['continue', 'sessions'], undefined],
  ['contniue', ['continue'], 'continue'],
  ['x', [], undefined],
] as const) {
  test(`nearest() suggests ${meant} for ${word}`, () => {
    assert.equal(nearest(word, candidates), meant)
  })
}

test('didYouMean() returns a question, or nothing', () => {
  assert.equal(didYouMean('comand', ['command']), 'did you mean "command"?')
  assert.equal(didYouMean('x', ['command']), undefined)
})

test('a candidate with swapped letters ranks before one that lacks a letter', () => {
  assert.equal(nearest('modle', ['mode', 'model']), 'model')
  assert.equal(nearest('modle', ['model', 'mode']), 'model')
  assert.equal(nearest('mod', ['model', 'mode']), 'mode')
})
