import type { Terminal } from '../../../cli/host.ts'
import { readEnvFile } from '../../../core/config/env-file.ts'
import { loadConfig } from '../../../core/config/load-config.ts'
import { openModels } from '../../../core/provider/discover.ts'
import { LOCAL_SERVERS } from '../../../core/provider/presets.ts'
import { serviceEnvPath } from '../../../up/service-spec.ts'
import { fetchStatus, type OpenService } from './open-service.ts'
import { keepKeys, shellKeys } from './shell-keys.ts'
import { unansweredError } from './unanswered.ts'

/** The models that a service would have if it were started now. */
type Models = { kind: 'demo' } | { kind: 'local'; server: string; model: string } | { kind: 'own' }

/**
 * Ensures that the daemon has a model before it is started as a service. At a terminal it asks the user, the
 * first time only; otherwise it prints a hint, and the built-in demo answers.
 */
export async function firstRun(at: OpenService, signal: AbortSignal): Promise<void> {
  const { state, isInstalled } = await fetchStatus(at, signal)
  if (state === 'running' || state === 'starting') return
  using terminal = at.host.screen() === undefined ? undefined : at.host.terminal()
  const isFirst = !isInstalled
  await offerKeys(at, terminal, signal)
  const models = await loadServiceModels(at, signal)
  if (models.kind === 'own') return
  if (terminal && isFirst) {
    const { promptForModel } = await import('./choose-model.ts')
    return await promptForModel({ at, terminal, local: models.kind === 'local' ? models : undefined }, signal)
  }
  if (models.kind === 'local') return
  at.host.stderr.write(`crabup: there is no model yet, so the built-in demo answers: ${setupHint(at)}\n`)
}

function setupHint({ paths }: OpenService): string {
  return `add a key such as ANTHROPIC_API_KEY='KEY' to ${serviceEnvPath(paths)}, or write [llm] in ${paths.config}`
}

/** Offers to save keys that only this shell has. */
async function offerKeys(
  at: OpenService,
  terminal: Terminal | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { absent, different } = await shellKeys(at)
  const file = serviceEnvPath(at.paths)
  if (different.length > 0)
    at.host.stderr.write(`crabup: ${joinNames(different)} in this shell is not what ${file} says\n`)
  if (absent.length === 0) return
  const message = `${joinNames(absent)} ${absent.length === 1 ? 'is' : 'are'} set in this shell, which a service does not see`
  if (!terminal) {
    at.host.stderr.write(`crabup: ${message}: add ${absent.length === 1 ? 'it' : 'them'} to ${file}\n`)
    return
  }
  terminal.forgetInput()
  terminal.output.write(
    `${message}.\nKeep ${absent.length === 1 ? 'it' : 'them'} in ${file}, which only you can read? [Y/n] `,
  )
  const answer = await terminal.readLine(signal)
  if (answer === undefined) {
    terminal.output.write('\n')
    throw unansweredError()
  }
  if (/^(y(es)?)?$/i.test(answer.trim())) await keepKeys(at, absent)
}

async function loadServiceModels({ paths }: OpenService, signal: AbortSignal): Promise<Models> {
  const config = await loadConfig(paths)
  const registry = await openModels({ config, env: await readEnvFile(serviceEnvPath(paths)) }, signal)
  if (config.defaultModel !== undefined || config.providers.length > 0) return { kind: 'own' }
  try {
    const model = registry.defaultModel()
    const server = registry.getSource(model).name
    if (server === 'demo') return { kind: 'demo' }
    return LOCAL_SERVERS.some(({ name }) => name === server)
      ? { kind: 'local', server, model }
      : { kind: 'own' }
  } catch {
    return { kind: 'own' } // the daemon reports the error
  }
}

function joinNames(names: readonly string[]): string {
  return names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
