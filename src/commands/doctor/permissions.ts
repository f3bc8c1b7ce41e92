import { basename } from 'node:path'
import { readAgentFiles } from '../../core/config/agent-files.ts'
import { entryRules } from '../../core/config/entry-rules.ts'
import { readConfig } from '../../core/config/load-config.ts'
import { type PermissionRule, toRules } from '../../core/config/permissions.ts'
import type { KeyPath } from '../../core/config/problem.ts'
import { findWide } from '../../core/policy/wide-rules.ts'
import { type Check, counted, type Finding, note, ok, type Place, warning } from './check.ts'
import { clientFindings } from './clients.ts'

/** Who is asked, how many rules there are and where, and which of them permit nearly everything. */
export const checkPermissions: Check = async (place) => {
  const config = await readConfig(place.paths)
  const rules = [...(config.ok ? config.value.permissions : []), ...(await agentRules(place))]
  const clients = await clientFindings(place.paths, config.ok ? config.value.daemon : undefined)
  return [askedHere(place), ...counts(rules), ...rules.flatMap(judge), ...clients]
}

function askedHere({ host }: Place): Finding {
  using terminal = host.terminal()
  if (terminal) return ok('what no rule decides, you are asked about on this terminal')
  return note('nobody can be asked here: what no rule permits is refused', '--allow permits it for one run')
}

async function agentRules({ paths, agents }: Place): Promise<PermissionRule[]> {
  const files = await readAgentFiles(paths.agents)
  return agents.flatMap(({ name, permissions, mcps }) => {
    const file = files.find((one) => one.name === name)
    const place = (path: KeyPath) => {
      const line = file?.document.ok ? file.document.value.lineOf(path) : 1
      return `agents/${file ? basename(file.path) : name}:${line}`
    }
    const ofServers = mcps.map((entry, i) => entryRules(entry, (path) => place(['mcps', i, ...path])))
    return [...toRules(permissions, place), ...ofServers.flat()]
  })
}

function counts(rules: readonly PermissionRule[]): Finding[] {
  const byFile = Map.groupBy(rules, ({ source }) => source.replace(/:\d+$/, ''))
  return [...byFile].map(([file, all]) => {
    const kinds = (['allow', 'ask', 'deny'] as const).map((effect) => {
      const count = all.filter((rule) => rule.effect === effect).length
      return count > 0 ? `${count} ${effect}` : ''
    })
    return ok(`${file}: ${counted(all.length, 'rule')}, ${kinds.filter(Boolean).join(', ')}`)
  })
}

function judge(rule: PermissionRule): Finding[] {
  const wide = findWide(rule)
  if (wide === undefined) return []
  return [
    warning(`${rule.source}: allow ${rule.pattern} permits ${wide.permits} without a question`, wide.instead),
  ]
}
