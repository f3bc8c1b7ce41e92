import assert from 'node:assert/strict'
import { decide } from '../../src/core/policy/decide.ts'
import type { Decision, PolicyContext, RuleEffect } from '../../src/core/policy/types.ts'
import { makePolicyContext, ruleList } from './policy-context.ts'

/** Evaluates a command line against rules such as `allow bash(git *)`. */
export function judgeLine(line: string, rules: string[], more: Partial<PolicyContext> = {}): Decision {
  return decide({ kind: 'bash', command: line }, makePolicyContext({ rules: ruleList(rules), ...more }))
}

/** Checks rows of an effect, rules, and the lines that must get it. */
export function checkLines(
  rows: readonly [effect: RuleEffect, rules: string[], lines: string[]][],
  more: Partial<PolicyContext> = {},
) {
  for (const [effect, rules, lines] of rows) {
    for (const line of lines) {
      assert.equal(
        judgeLine(line, rules, more).effect,
        effect,
        `${JSON.stringify(line)} with ${rules.join(', ')}`,
      )
    }
  }
}
