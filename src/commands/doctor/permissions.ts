import { type Check, type CheckContext, type CheckResult, note, ok, warning } from '../../cli/check.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import type { Config } from '../../core/config/config.ts'
import { readConfig } from '../../core/config/load-config.ts'
import type { PermissionRule } from '../../core/config/permissions.ts'
import { findWide } from '../../core/policy/wide-rules.ts'
import { readToken } from '../../core/transport/token.ts'
import { ALLOW_OPEN_TCP, OPEN_TCP_HINT, OPEN_TCP_WARNING } from '../../daemon/tcp/open-tcp.ts'
import { collectWrittenRules, findIdleRulesHere } from '../written-rules.ts'

/**
 * Reports who is asked for permission, how many rules there are and where, and which of them permit nearly
 * everything or match nothing.
 */
export const checkPermissions: Check = async (context) => {
  const [config, rules] = await Promise.all([readConfig(context.paths), collectWrittenRules(context.paths)])
  const idle = await findIdleRulesHere(context.paths, context.host)
  const clients = await clientFindings(context, config.ok ? config.value.daemon : undefined)
  const unmatched = idle.map(({ source, message, hint }) => warning(`${source}: ${message}`, hint))
  return [
    checkPrompting(context),
    ...countRules(rules),
    ...rules.flatMap(checkRule),
    ...unmatched,
    ...clients,
  ]
}

function checkPrompting({ host }: CheckContext): CheckResult {
  using terminal = host.terminal()
  if (terminal) return ok('you are asked on this terminal about calls that no rule decides')
  return note(
    'there is no terminal to ask on: calls that no rule allows are denied',
    '--allow allows them for one run',
  )
}

function countRules(rules: readonly PermissionRule[]): CheckResult[] {
  const byFile = Map.groupBy(rules, ({ source }) => source.replace(/:\d+$/, ''))
  return [...byFile].map(([file, all]) => {
    const kinds = (['allow', 'ask', 'deny'] as const).map((effect) => {
      const count = all.filter((rule) => rule.effect === effect).length
      return count > 0 ? `${count} ${effect}` : ''
    })
    return ok(`${file}: ${pluralize(all.length, 'rule')}, ${kinds.filter(Boolean).join(', ')}`)
  })
}

function checkRule(rule: PermissionRule): CheckResult[] {
  const wide = findWide(rule)
  if (wide === undefined) return []
  return [
    warning(`${rule.source}: allow ${rule.pattern} permits ${wide.permits} without asking`, wide.instead),
  ]
}

/** Reports TCP clients that need no token, and a token that other users may know. */
export async function clientFindings(
  { paths, host }: Pick<CheckContext, 'paths' | 'host'>,
  daemon: Config['daemon'] | undefined,
): Promise<CheckResult[]> {
  if (daemon?.tcpToken === false) {
    const message = host.env[ALLOW_OPEN_TCP] === '1' ? OPEN_TCP_WARNING : REFUSED_TCP_WARNING
    return [warning(message, OPEN_TCP_HINT)]
  }
  try {
    await readToken(paths.run)
    return []
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    return kind === 'missing' ? [] : [warning(message, hint)] // most homes have none
  }
}

const REFUSED_TCP_WARNING = `tcp_token = false: a daemon without ${ALLOW_OPEN_TCP}=1 refuses to start`
