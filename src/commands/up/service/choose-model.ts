import { readSecret } from '../../../cli/ask/secret.ts'
import type { Host, Terminal } from '../../../cli/host.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { SqliteLeases } from '../../../core/lease/sqlite-leases.ts'
import type { Preset } from '../../../core/provider/presets.ts'
import {
  fetchOwnModels,
  fetchProviderModels,
  KEY_PROVIDERS,
  type ModelSetup,
  parseServerUrl,
  type ServerModels,
  saveLocalServer,
  saveProvider,
  saveServer,
} from '../../../up/model-setup.ts'
import type { OpenService } from '../../../up/services/open-service.ts'
import { unansweredError } from './unanswered-error.ts'

interface ModelPrompt {
  handle: OpenService<Host>
  terminal: Terminal
  /** The model server that was found on this machine. */
  local: { server: string; model: string } | undefined
}

interface ModelDialog extends ModelPrompt {
  setup: ModelSetup
}

/**
 * Asks the user for a provider, a key and a model, and saves the answers: the key in service.env, the rest in
 * config.toml. Enter keeps everything as it is. Throws `cancelled` on Ctrl-C and Ctrl-D, before anything is
 * written.
 */
export async function promptForModel(prompt: ModelPrompt, signal: AbortSignal): Promise<void> {
  const { handle, terminal, local } = prompt
  const { paths, host } = handle
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  const setup: ModelSetup = { paths, lock: (resource, signal) => leases.take(resource, signal) }
  const dialog = { ...prompt, setup }
  if (local && (await wantsLocal(terminal, local, signal))) return await saveLocalServer(setup, local, signal)
  terminal.output.write(menu())
  for (;;) {
    const answer = await ask(terminal, 'Number, or Enter to keep the built-in demo: ', signal)
    if (answer === '') return printDemoNote(dialog)
    const preset =
      KEY_PROVIDERS[Number(answer) - 1] ?? KEY_PROVIDERS.find(({ name }) => name === answer.toLowerCase())
    const isDone = preset
      ? await takePreset(dialog, preset, signal)
      : isOwn(answer) && (await takeOwn(dialog, signal))
    if (isDone) return
    if (!preset && !isOwn(answer))
      terminal.output.write(`Type a number from 1 to ${KEY_PROVIDERS.length + 1}.\n`)
  }
}

function printDemoNote({ handle: { paths }, terminal }: ModelPrompt): void {
  terminal.output.write(
    `The built-in demo answers. To use a model later, put a key into ${paths.serviceEnv} or [llm] into ${paths.config}, and run crabup daemon restart.\n`,
  )
}

async function wantsLocal(
  terminal: Terminal,
  local: { server: string; model: string },
  signal: AbortSignal,
): Promise<boolean> {
  const what = sanitize(`${local.server} is running on this machine, with ${local.model}`)
  return /^(y(es)?)?$/i.test(await ask(terminal, `${what}. Use it? [Y/n] `, signal))
}

function menu(): string {
  const rows = KEY_PROVIDERS.map(({ title, keys: [key] }, index) => `  ${index + 1}  ${title} (${key})`)
  return `Which model should answer?\n${rows.join('\n')}\n  ${KEY_PROVIDERS.length + 1}  another server with an OpenAI-compatible API\n`
}

function isOwn(answer: string): boolean {
  return Number(answer) === KEY_PROVIDERS.length + 1
}

/** Returns false when the user enters no key, so that the menu is shown again. */
async function takePreset(dialog: ModelDialog, preset: Preset, signal: AbortSignal): Promise<boolean> {
  const { setup, terminal } = dialog
  const key = await askKey(dialog, `Your ${preset.title} key (not shown): `)
  if (key === '') return false
  const found = await fetchProviderModels(preset, key, signal)
  if (!acceptModels(terminal, found)) return false
  const model = await askModel(terminal, { names: found.names, usual: preset.defaultModel }, signal)
  await saveProvider(setup, { preset, key, model }, signal)
  const { serviceEnv, config } = setup.paths
  terminal.output.write(
    `Saved the key in ${serviceEnv}${model === undefined ? '' : `, and the model in ${config}`}.\n`,
  )
  return true
}

async function takeOwn(dialog: ModelDialog, signal: AbortSignal): Promise<boolean> {
  const { setup, terminal } = dialog
  const baseUrl = await askAddress(terminal, signal)
  if (baseUrl === undefined) return false
  const key = await askKey(dialog, 'Its key, if it needs one (not shown): ')
  const found = await fetchOwnModels(baseUrl, key, signal)
  if (!acceptModels(terminal, found)) return false
  const model = await askModel(terminal, { names: found.names, usual: found.names[0] }, signal)
  await saveServer(setup, { baseUrl, key, model }, signal)
  terminal.output.write(`Saved in ${setup.paths.config}.\n`)
  return true
}

/** Returns undefined when the user enters no address, so that the menu is shown again. */
async function askAddress(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const typed = await ask(terminal, 'Its address, such as http://localhost:4000/v1: ', signal)
    if (typed === '') return undefined
    const baseUrl = parseServerUrl(typed)
    if (baseUrl !== undefined) return baseUrl
    terminal.output.write('That is not an http address.\n')
  }
}

/** Reports why a server listed no models; returns false when it refused the key. */
function acceptModels(terminal: Terminal, { problem, isRefused }: ServerModels): boolean {
  if (!problem) return true
  terminal.output.write(`${sanitize(problem.message)}\n`)
  if (!isRefused) terminal.output.write('Your answers are saved anyway.\n')
  return !isRefused
}

/** Returns undefined when the user names no model and there is no default. */
async function askModel(
  terminal: Terminal,
  { names, usual }: { names: readonly string[]; usual: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const some = names.slice(0, MAX_NAMES).map((name) => `  ${sanitize(name)}`)
  const more = names.length > some.length ? [`  … and ${names.length - some.length} more`] : []
  if (some.length > 1) terminal.output.write(`It offers:\n${[...some, ...more].join('\n')}\n`)
  const answer = await ask(terminal, usual === undefined ? 'Model: ' : `Model [${sanitize(usual)}]: `, signal)
  return answer === '' ? usual : answer
}

async function askKey({ handle, terminal }: ModelPrompt, prompt: string): Promise<string> {
  await terminal.output.flush()
  const screen = handle.host.screen()
  if (!screen) return ''
  const key = await readSecret({ screen, host: handle.host }, prompt)
  if (key === undefined) throw unansweredError()
  return key.trim()
}

async function ask(terminal: Terminal, prompt: string, signal: AbortSignal): Promise<string> {
  terminal.output.write(prompt)
  await terminal.output.flush()
  const line = await terminal.readLine(signal)
  if (line !== undefined) return line.trim()
  terminal.output.write('\n')
  throw unansweredError()
}

const MAX_NAMES = 12
