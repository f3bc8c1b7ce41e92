import type { CommandHandler } from '../../cli/command.ts'
import { printJson, printTable } from '../../cli/print.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk model list`. */
export const listModelsCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host, { signal })
  const { models } = await request(attached.dispatch, 'listModels', { ask: true }, signal)
  if (options.has('json')) return printJson(host, models.map(toJson))
  await printTable(host, ['NAME', 'PROVIDER', 'CONTEXT', 'USD IN', 'USD OUT', 'EFFORT'], models.map(toRow))
  return 0
}

function toJson({ name, active, providerName, context, inputUsd, outputUsd, efforts }: ModelInfo): object {
  return {
    name,
    default: active,
    provider: providerName ?? null,
    context: context ?? null,
    input_usd: inputUsd ?? null,
    output_usd: outputUsd ?? null,
    efforts,
  }
}

function toRow({
  name,
  active,
  providerName = '',
  context,
  inputUsd,
  outputUsd,
  efforts,
}: ModelInfo): string[] {
  const known = [context, inputUsd, outputUsd].map((value) => (value === undefined ? '-' : `${value}`))
  return [`${name}${active ? ' *' : ''}`, providerName, ...known, efforts.join(' ') || '-']
}
