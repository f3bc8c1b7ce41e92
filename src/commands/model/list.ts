import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { EMPTY_CONFIG } from '../../core/config/config.ts'
import { readConfig } from '../../core/config/load-config.ts'
import type { ModelInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { findKeySource } from '../../core/provider/key-source.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk model list`. */
export const listModelsCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host, { signal })
  const { models } = await request(attached.dispatch, 'listModels', { ask: true }, signal)
  const config = await readConfig(resolvePaths(host))
  const { providers } = config.ok ? config.value : EMPTY_CONFIG
  const rows = models.map((model): KeyedModel => {
    return { ...model, keySource: findKeySource(model.providerName ?? '', { providers }, host.env) }
  })
  if (options.has('json')) return printJson(host, rows.map(toJson))
  await printTable(
    host,
    ['NAME', 'PROVIDER', 'CONTEXT', 'USD IN', 'USD OUT', 'EFFORT', 'KEY'],
    rows.map(toRow),
  )
  return 0
}

/** A model, and where the key of its provider comes from. */
type KeyedModel = ModelInfo & { keySource: string | undefined }

function toJson({
  name,
  active,
  providerName,
  context,
  inputUsd,
  outputUsd,
  efforts,
  keySource,
}: KeyedModel): object {
  return {
    name,
    default: active,
    provider: providerName ?? null,
    key: keySource ?? null,
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
  keySource = '-',
}: KeyedModel): string[] {
  const known = [context, inputUsd, outputUsd].map((value) => (value === undefined ? '-' : `${value}`))
  return [`${name}${active ? ' *' : ''}`, providerName, ...known, efforts.join(' ') || '-', keySource]
}
