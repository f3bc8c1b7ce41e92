import type { PermissionRule } from '../../core/config/permissions.ts'

/** A warning about a rule that matches nothing, and what to do about it. */
export interface IdleRule {
  /** The location of the rule: `config.toml:4`. */
  source: string
  /** A sentence without a full stop. */
  message: string
  hint: string
}

/** Creates the warning for a rule; a `deny` rule that matches nothing leaves open what it should close. */
export function toIdleRule({ effect, pattern, source }: PermissionRule, why: string, hint: string): IdleRule {
  return { source, message: `this ${effect} rule ${VERBS[effect]} nothing: ${pattern}: ${why}`, hint }
}

const VERBS = { allow: 'allows', ask: 'asks about', deny: 'denies' } as const
