import type { HomePaths } from '../../core/config/paths.ts'
import type { PatternContext } from '../../core/policy/path-pattern.ts'
import { findIdlePathRules } from './idle-path-rules.ts'
import type { IdleRule } from './idle-rule.ts'
import { findIdleToolRules, findUnlistedTools, type ListedServer } from './idle-tool-rules.ts'
import { readRuleScopes } from './rule-scopes.ts'

/** The home whose rules are checked. */
export interface IdleRuleOptions {
  paths: HomePaths
  /** The names of the installed components. */
  installed: readonly string[]
}

/** Finds the rules and names of tools that match nothing, as far as that is known without starting a server. */
export async function findIdleRules(
  { paths, installed }: IdleRuleOptions,
  context: PatternContext,
): Promise<IdleRule[]> {
  const found = (await readRuleScopes(paths, installed)).map(async (scope) => [
    ...findIdleToolRules(scope),
    ...(await findIdlePathRules(scope.rules, context)),
  ])
  return (await Promise.all(found)).flat()
}

/**
 * Finds the rules and names of tools that refer to a known server which, according to its listed tools, has
 * no such tool.
 */
export async function findIdleListedRules(
  { paths, installed }: IdleRuleOptions,
  listed: readonly ListedServer[],
): Promise<IdleRule[]> {
  return (await readRuleScopes(paths, installed)).flatMap((scope) => findUnlistedTools(scope, listed))
}
