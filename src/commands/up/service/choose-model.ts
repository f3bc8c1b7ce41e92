import type { Terminal } from '../../../cli/host.ts'
import { ERROR_KINDS, toCrabError } from '../../../core/base/errors.ts'
import type { JsonObject } from '../../../core/base/message.ts'
import { sanitize } from '../../../core/base/sanitize.ts'
import { changeConfig } from '../../../core/config/change-config.ts'
import { normaliseBaseUrl } from '../../../core/config/config.ts'
import { withModel } from '../../../core/config/default-model.ts'
import { setInEnvFile } from '../../../core/config/env-file.ts'
import { SqliteLeases } from '../../../core/lease/sqlite-leases.ts'
import { endpointFromEnv, localModelEndpoint, type ModelEndpoint } from '../../../core/provider/endpoint.ts'
import { fetchModels } from '../../../core/provider/list-models.ts'
import { LOCAL_SERVERS, PRESETS, type Preset } from '../../../core/provider/presets.ts'
import { serviceEnvPath } from '../../../up/service-spec.ts'
import { readSecret } from '../../ask/secret.ts'
import type { OpenService } from './open-service.ts'
import { unansweredError } from './unanswered.ts'

/** The terminal of the prompt, and the model server found on this machine. */
interface SetupContext {
  at: OpenService
  terminal: Terminal
  local: { server: string; model: string } | undefined
}

/**
 * Asks the user for a provider, a key and a model, and saves the answers: the key in service.env, the rest in
 * config.toml. Enter keeps everything as it is. Throws `cancelled` on Ctrl-C and Ctrl-D, before anything is
 * written.
 */
export async function promptForModel(choice: SetupContext, signal: AbortSignal): Promise<void> {
  const { at, terminal, local } = choice
  if (local && (await wantsLocal(choice, local, signal))) return await writeServer(at, local, signal)
  terminal.output.write(menu())
  for (;;) {
    const answer = await ask(terminal, 'Number, or Enter for the built-in demo: ', signal)
    if (answer === '') return printDemoNote(choice)
    const preset = OFFERED[Number(answer) - 1] ?? OFFERED.find(({ name }) => name === answer.toLowerCase())
    const isDone = preset
      ? await takePreset(choice, preset, signal)
      : isOwn(answer) && (await takeOwn(choice, signal))
    if (isDone) return
    if (!preset && !isOwn(answer))
      terminal.output.write(`A number from 1 to ${OFFERED.length + 1}, please.\n`)
  }
}

function printDemoNote({ at, terminal }: SetupContext): void {
  terminal.output.write(
    `The built-in demo answers. Later: a key in ${serviceEnvPath(at.paths)}, or [llm] in ${at.paths.config}, and crabup daemon restart.\n`,
  )
}

async function wantsLocal(
  { terminal }: SetupContext,
  local: NonNullable<SetupContext['local']>,
  signal: AbortSignal,
) {
  const what = sanitize(`${local.server} answers on this machine, with ${local.model}`)
  return /^(y(es)?)?$/i.test(await ask(terminal, `${what}. Use it? [Y/n] `, signal))
}

function menu(): string {
  const rows = OFFERED.map(
    ({ name, keys: [key] }, index) => `  ${index + 1}  ${TITLES[name] ?? name} (${key})`,
  )
  return `Which model shall answer?\n${rows.join('\n')}\n  ${OFFERED.length + 1}  another server that speaks as OpenAI's does\n`
}

function isOwn(answer: string): boolean {
  return Number(answer) === OFFERED.length + 1
}

/** Returns false when the user enters no key, so that the menu is shown again. */
async function takePreset(choice: SetupContext, preset: Preset, signal: AbortSignal): Promise<boolean> {
  const { at, terminal } = choice
  const key = await askKey(choice, `Key of ${TITLES[preset.name] ?? preset.name} (it is not shown): `)
  if (key === '') return false
  const variable = preset.keys[0]
  const endpoint = endpointFromEnv(preset, { [variable]: key })
  const names = endpoint && (await fetchModelNames(choice, endpoint, signal))
  if (names === 'refused') return false
  const model = await askModel(terminal, { names: names ?? [], usual: preset.defaultModel }, signal)
  await setInEnvFile(serviceEnvPath(at.paths), { [variable]: key })
  if (model !== undefined) await write(at, (table) => withModel(table, model), signal)
  terminal.output.write(
    `Written: the key to ${serviceEnvPath(at.paths)}${model === undefined ? '' : `, the model to ${at.paths.config}`}.\n`,
  )
  return true
}

async function takeOwn(choice: SetupContext, signal: AbortSignal): Promise<boolean> {
  const { at, terminal } = choice
  const baseUrl = await askAddress(terminal, signal)
  if (baseUrl === undefined) return false
  const key = await askKey(choice, 'Its key, if it has one (it is not shown): ')
  const endpoint = {
    ...localModelEndpoint('llm', 0),
    baseUrl,
    where: baseUrl,
    apiKey: key === '' ? undefined : key,
  }
  const names = await fetchModelNames(choice, endpoint, signal)
  if (names === 'refused') return false
  const model = await askModel(terminal, { names, usual: names[0] }, signal)
  const llm = {
    base_url: baseUrl,
    ...(key !== '' && { api_key: key }),
    ...(model !== undefined && { model }),
  }
  await write(at, (table) => ({ ...table, llm }), signal)
  terminal.output.write(`Written to ${at.paths.config}.\n`)
  return true
}

/** Returns undefined when the user enters no address, so that the menu is shown again. */
async function askAddress(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const typed = await ask(terminal, 'Its address, such as http://localhost:4000/v1: ', signal)
    if (typed === '') return undefined
    if (/^https?:$/.test(URL.parse(typed)?.protocol ?? '')) return normaliseBaseUrl(typed)
    terminal.output.write('That is no http address.\n')
  }
}

/**
 * Fetches the model names of a server. An unreachable server is reported and yields an empty list, because
 * the setup can continue.
 */
async function fetchModelNames(
  { terminal }: SetupContext,
  endpoint: ModelEndpoint,
  signal: AbortSignal,
): Promise<string[] | 'refused'> {
  try {
    return await fetchModels({ ...endpoint, timeoutMs: ASK_MS, idleMs: ASK_MS }, signal)
  } catch (reason) {
    signal.throwIfAborted()
    const { kind, message } = toCrabError(reason)
    terminal.output.write(`${sanitize(message)}\n`)
    if (ERROR_KINDS[kind].exit === ERROR_KINDS.credentials.exit) return 'refused'
    terminal.output.write('It is kept all the same.\n')
    return []
  }
}

/** Returns undefined when the user names no model and there is no default. */
async function askModel(
  terminal: Terminal,
  { names, usual }: { names: readonly string[]; usual: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const some = names.slice(0, MOST_NAMES).map((name) => `  ${sanitize(name)}`)
  const more = names.length > some.length ? [`  … and ${names.length - some.length} more`] : []
  if (some.length > 1) terminal.output.write(`It has:\n${[...some, ...more].join('\n')}\n`)
  const answer = await ask(terminal, usual === undefined ? 'Model: ' : `Model [${sanitize(usual)}]: `, signal)
  return answer === '' ? usual : answer
}

async function askKey({ at, terminal }: SetupContext, prompt: string): Promise<string> {
  await terminal.output.flush()
  const screen = at.host.screen()
  if (!screen) return ''
  const key = await readSecret({ screen, host: at.host }, prompt)
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

async function writeServer(
  at: OpenService,
  { server, model }: { server: string; model: string },
  signal: AbortSignal,
): Promise<void> {
  const { port } = LOCAL_SERVERS.find(({ name }) => name === server)!
  const { baseUrl } = localModelEndpoint(server, port)
  await write(at, (table) => ({ ...table, llm: { base_url: baseUrl, model } }), signal)
}

async function write(
  { paths, host }: OpenService,
  change: (table: JsonObject) => JsonObject,
  signal: AbortSignal,
): Promise<void> {
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  await using _ = await leases.take(`file:${paths.config}`, signal)
  await changeConfig(paths, change)
}

/** The providers that need only a key. */
const OFFERED: readonly Preset[] = PRESETS.filter(({ kind }) => kind !== 'bedrock' && kind !== 'azure')
const TITLES: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  openrouter: 'OpenRouter',
  groq: 'Groq',
  mistral: 'Mistral',
  xai: 'xAI',
  deepseek: 'DeepSeek',
}
const ASK_MS = 5000
const MOST_NAMES = 12
