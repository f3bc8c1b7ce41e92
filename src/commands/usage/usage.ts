import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { parseWhen } from '../../cli/when.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { UsageRow } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import {
  sumAll,
  sumUsage,
  toUsageCells,
  USAGE_GROUPS,
  type UsageGroup,
  usageHeader,
} from '../../core/protocol/usage-table.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk usage`. */
export const usageCommand: CommandHandler = async ({ options, host, signal }) => {
  const by = readGroup(options.value('by') ?? 'day')
  const since = parseWhen('since', options.value('since') ?? '30d', new Date())
  await using attached = await attach(host, { signal })
  const { rows } = await request(attached.dispatch, 'usageReport', { since }, signal)
  if (options.has('json')) return printJson(host, rows.map(toJsonRow))
  if (rows.length === 0) host.stderr.write('No turns in this period; --since 1y looks further back\n')
  else
    await printTable(
      host,
      usageHeader(by),
      toUsageCells(sumUsage(rows, by), sumAll('', rows), ({ name }) => name),
    )
  return 0
}

function readGroup(text: string): UsageGroup {
  const group = USAGE_GROUPS.find((one) => one === text)
  if (group) return group
  throw new CrabError('usage', `Cannot use --by ${text}: unknown group`, {
    hint: `use ${USAGE_GROUPS.join(', ')}`,
  })
}

function toJsonRow({
  day,
  model,
  agent,
  cwd,
  turns,
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
  costUsd,
}: UsageRow) {
  const tokens = { input, output, cache_read: cacheRead, cache_write: cacheWrite, reasoning }
  return { day, model, agent, cwd, turns, tokens, cost_usd: costUsd ?? null }
}
