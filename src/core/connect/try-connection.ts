import { CrabError, toCrabError } from '../base/errors.ts'
import { suggestModel } from '../provider/discover.ts'
import type { Env } from '../provider/env.ts'
import { isCalled } from '../provider/facts.ts'
import { fetchKeyCheck, fetchModels, type ReportedModel } from '../provider/list-models.ts'
import { callEndpoint } from '../provider/source.ts'
import type { ProviderConnection } from './connection.ts'
import { explainFailure } from './explain-failure.ts'

/** The models of a connection that works. */
export interface OfferedModels {
  /** The names in the order of the provider; empty when it does not list them. */
  names: readonly string[]
  /** The model to preselect; undefined when the user must name one. */
  usual: string | undefined
  /** The context windows that the provider reports, by model, in tokens. */
  contexts: ReadonlyMap<string, number>
}

/**
 * Tries an address and a key with one request: the list of the models. A provider that has no list is not
 * called; tryModel() then tries it with a model.
 *
 * Throws `credentials` for a refused key, `unavailable` and `timeout` for the network, `config` for an address
 * at which no model server is.
 */
export async function tryConnection(
  connection: ProviderConnection,
  env: Env,
  signal: AbortSignal,
): Promise<OfferedModels> {
  const { endpoint, preset } = connection
  const known =
    preset && suggestModel(preset, env, { baseUrl: endpoint.baseUrl, region: endpoint.aws?.region })
  const unlisted = { names: [], usual: known, contexts: new Map<string, number>() }
  if (endpoint.wire === 'converse' || endpoint.kind === 'azure') return unlisted
  try {
    if (preset?.keyCheckPath !== undefined) await fetchKeyCheck(endpoint, preset.keyCheckPath, signal)
    return toOffer(await fetchModels(endpoint, signal), known)
  } catch (reason) {
    if (isWithoutList(reason)) return unlisted
    throw explainFailure(reason, connection, env, signal)
  }
}

function toOffer(models: readonly ReportedModel[], known: string | undefined): OfferedModels {
  const names = models.map(({ name }) => name)
  const contexts = models.flatMap(({ name, context }) =>
    context === undefined ? [] : [[name, context] as const],
  )
  return { names, usual: chooseUsual(names, known), contexts: new Map(contexts) }
}

/** Tries a model with a call of a few tokens. Throws like tryConnection(). */
export async function tryModel(
  connection: ProviderConnection,
  model: string,
  env: Env,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    model,
    system: '',
    messages: [{ role: 'user' as const, content: 'Reply with: ok' }],
    tools: [],
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    retries: 0,
  }
  try {
    for await (const event of callEndpoint(() => connection.endpoint, request, signal)) {
      if (event.type !== 'notice') return
    }
  } catch (reason) {
    throw explainFailure(reason, connection, env, signal)
  }
}

/** Returns the known model if the provider lists it, otherwise its first one. */
function chooseUsual(names: readonly string[], known: string | undefined): string | undefined {
  const listed = known === undefined ? undefined : names.find((name) => isCalled(name, known))
  return listed === undefined ? (names[0] ?? known) : known
}

/** Whether a server answered that it has no list of its models, which says nothing about the key. */
function isWithoutList(reason: unknown): boolean {
  return reason instanceof CrabError && /\((404|405|501)\)$/.test(toCrabError(reason).message)
}

/** The least that every provider accepts. */
const MAX_OUTPUT_TOKENS = 16
