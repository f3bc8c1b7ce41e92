import {
  type Check,
  type CheckContext,
  type CheckResult,
  note,
  ok,
  problem,
  warning,
} from '../../cli/check.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import type { Config } from '../../core/config/config.ts'
import { readConfig } from '../../core/config/load-config.ts'
import { openProcessHost } from '../../core/process/process-host.ts'
import { CONNECT_HINT } from '../../core/provider/demo.ts'
import { openModels } from '../../core/provider/discover.ts'
import { findKeySource } from '../../core/provider/key-source.ts'
import type { ModelRegistry } from '../../core/provider/registry.ts'
import { openHelperKeys } from '../../daemon/helper-keys.ts'

/**
 * Reports which model answers, where it is configured, and whether its server can be reached. Spends no
 * tokens.
 */
export const checkModel: Check = async ({ paths, agents, host }, signal) => {
  const outcome = await readConfig(paths)
  if (!outcome.ok) return [note('not checked: config.toml has errors')]
  const config = outcome.value
  const soon = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)])
  const processes = openProcessHost({ pid: host.pid })
  const ownCommand = async () => (await host.build()).command
  const helperKeys = openHelperKeys({ ...host, paths, ownCommand }, processes, soon)
  const registry = await openModels({ config, env: host.env, helperKeys }, soon)
  return [
    ...(await checkDefaultModel(registry, { config, env: host.env }, soon)),
    ...agents.flatMap((agent) => checkAgentModel(registry, agent)),
  ]
}

async function checkDefaultModel(
  registry: ModelRegistry,
  { config, env }: { config: Config; env: CheckContext['host']['env'] },
  signal: AbortSignal,
): Promise<CheckResult[]> {
  let model: string
  try {
    model = registry.defaultModel()
  } catch (reason) {
    return [signal.aborted ? unlistedModels(config) : toProblem('no model can be chosen', reason)]
  }
  const source = registry.getSource(model)
  if (source.name === 'demo')
    return [warning('the built-in demo answers, which is not a language model', CONNECT_HINT)]
  const why = config.defaultModel === undefined ? 'its default' : 'set in config.toml'
  const key = findKeySource(source.name, config, env)
  const from = key === undefined ? '' : `; its key is from ${key}`
  const chosen = ok(`${model} from provider ${source.name} (${source.where}), ${why}${from}`)
  return [chosen, await checkModelEndpoint(source, model, signal)]
}

/** Reports that the first server, which is asked for a default model, did not list its models in time. */
function unlistedModels({ providers: [first] }: Config): CheckResult {
  const who = first ? `${first.name} (${first.where})` : 'its server'
  return problem(
    `no model can be chosen: ${who} did not list its models within ${MAX_WAIT_MS / 1000} s`,
    'check the network and base_url, or name a model in config.toml: model = "…"',
  )
}

async function checkModelEndpoint(
  source: ReturnType<ModelRegistry['getSource']>,
  model: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { listModels, where, name } = source
  try {
    source.check?.()
  } catch (reason) {
    return toProblem(`${name} cannot be used`, reason)
  }
  if (!listModels) return note(`${name} cannot list its models; a turn shows whether it works`)
  const startedAt = performance.now()
  try {
    const names = (await listModels(signal)).map((listed) => listed.name)
    const answered = `${name} answered in ${Math.round(performance.now() - startedAt)} ms`
    if (names.length === 0) return ok(answered)
    if (names.includes(model))
      return ok(`${answered} and lists ${model} (${pluralize(names.length, 'model')})`)
    return warning(
      `${answered} but does not list ${model} (${pluralize(names.length, 'model')})`,
      'name one of its models with --model, or write model = "…" in config.toml',
    )
  } catch (reason) {
    if (signal.aborted)
      return problem(
        `${name} (${where}) did not answer within ${MAX_WAIT_MS / 1000} s`,
        'check the network and base_url',
      )
    return toProblem(`${name} cannot be used`, reason)
  }
}

function checkAgentModel(
  registry: ModelRegistry,
  { name, model }: CheckContext['agents'][number],
): CheckResult[] {
  if (model === undefined) return []
  try {
    const source = registry.getSource(model)
    source.check?.()
    return [ok(`${name} uses ${model} of ${source.name}`)]
  } catch (reason) {
    return [toProblem(`${name} cannot use ${model}`, reason)]
  }
}

function toProblem(what: string, reason: unknown): CheckResult {
  const { message, hint } = reason instanceof CrabError ? reason : toCrabError(reason)
  return problem(`${what}: ${message}`, hint)
}

const MAX_WAIT_MS = 3000
