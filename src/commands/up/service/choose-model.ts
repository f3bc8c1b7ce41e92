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
import type { Terminal } from '../../host.ts'
import type { OpenService } from './open-service.ts'
import { unanswered } from './unanswered.ts'

/** Where a person chooses, and what was found on this machine. */
interface SetupContext {
  at: OpenService
  terminal: Terminal
  local: { server: string; model: string } | undefined
}

/**
 * Asks a person who shall answer, for a key, and for a model, and writes that down: the key into service.env, all else into
 * config.toml. Enter leaves everything as it is. Fails with `cancelled` on Ctrl-C and Ctrl-D; nothing is written then.
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

/** False where the person gives no key, and may choose again. */
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

/** Undefined where the person gives none, and may choose again. */
async function askAddress(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const typed = await ask(terminal, 'Its address, such as http://localhost:4000/v1: ', signal)
    if (typed === '') return undefined
    if (/^https?:$/.test(URL.parse(typed)?.protocol ?? '')) return normaliseBaseUrl(typed)
    terminal.output.write('That is no http address.\n')
  }
}

/** What a server has; none where it cannot be asked, which is told, and no reason to stop. */
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

/** Undefined where nobody names one, and none is usual. */
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
  if (key === undefined) throw unanswered()
  return key.trim()
}

async function ask(terminal: Terminal, prompt: string, signal: AbortSignal): Promise<string> {
  terminal.output.write(prompt)
  await terminal.output.flush()
  const line = await terminal.readLine(signal)
  if (line !== undefined) return line.trim()
  terminal.output.write('\n')
  throw unanswered()
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

/** Such as need no more than a key. */
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
