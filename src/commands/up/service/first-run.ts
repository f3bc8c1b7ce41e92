import type { Host, Terminal } from '../../../cli/host.ts'
import { findServiceModels, findShellKeys, saveShellKeys } from '../../../up/model-setup.ts'
import { fetchStatus, type OpenService } from '../../../up/services/open-service.ts'
import { unansweredError } from './unanswered-error.ts'

/**
 * Ensures that the daemon has a model before it is started as a service. At a terminal it asks the user, the
 * first time only; otherwise it prints a hint, and the built-in demo answers.
 */
export async function firstRun(handle: OpenService<Host>, signal: AbortSignal): Promise<void> {
  const { state, isInstalled } = await fetchStatus(handle, signal)
  if (state === 'running' || state === 'starting') return
  using terminal = handle.host.screen() === undefined ? undefined : handle.host.terminal()
  const isFirst = !isInstalled
  await offerKeys(handle, terminal, signal)
  const models = await findServiceModels(handle.paths, signal)
  if (models.kind === 'own') return
  if (terminal && isFirst) {
    const { promptForModel } = await import('./choose-model.ts')
    return await promptForModel(
      { handle, terminal, local: models.kind === 'local' ? models : undefined },
      signal,
    )
  }
  if (models.kind === 'local') return
  handle.host.stderr.write(`crabup: no model is set up, so the built-in demo answers: ${setupHint(handle)}\n`)
}

function setupHint({ paths }: OpenService<Host>): string {
  return `add a key such as ANTHROPIC_API_KEY='KEY' to ${paths.serviceEnv}, or write [llm] in ${paths.config}`
}

/** Offers to save keys that only this shell has. */
async function offerKeys(
  { paths, host }: OpenService<Host>,
  terminal: Terminal | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { absent, different } = await findShellKeys(paths, host.env)
  const file = paths.serviceEnv
  if (different.length > 0)
    host.stderr.write(`crabup: ${joinNames(different)} in this shell differs from ${file}\n`)
  if (absent.length === 0) return
  const message = `${joinNames(absent)} ${absent.length === 1 ? 'is' : 'are'} set in this shell, which services do not see`
  const it = absent.length === 1 ? 'it' : 'them'
  if (!terminal) {
    host.stderr.write(`crabup: ${message}: add ${it} to ${file}\n`)
    return
  }
  terminal.forgetInput()
  terminal.output.write(`${message}.\nSave ${it} in ${file}, which only you can read? [Y/n] `)
  const answer = await terminal.readLine(signal)
  if (answer === undefined) {
    terminal.output.write('\n')
    throw unansweredError()
  }
  if (/^(y(es)?)?$/i.test(answer.trim())) await saveShellKeys(paths, host.env, absent)
}

function joinNames(names: readonly string[]): string {
  return names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
