import { readSecret } from '../../cli/ask/secret.ts'
import type { ParsedOptions } from '../../cli/command.ts'
import type { Host, Terminal } from '../../cli/host.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { isServerAddress } from '../../core/base/server-address.ts'
import { type ConnectChoice, listConnectChoices } from '../../core/connect/choices.ts'
import { type ProviderConnection, toConnection } from '../../core/connect/connection.ts'
import { type OfferedModels, tryConnection, tryModel } from '../../core/connect/try-connection.ts'
import { finishConnect, readProviderChoice, withSavedKey } from './finish.ts'
import { listSavedChoices } from './home.ts'
import { describeKeyPlace } from './key-store.ts'

interface ConnectDialog {
  terminal: Terminal
  options: ParsedOptions
  host: Host
  signal: AbortSignal
}

/** A connection, and the models that it offers; without them the user saves it unchecked. */
interface TriedConnection {
  connection: ProviderConnection
  offered: OfferedModels | undefined
  /** Whether config.toml has it already. */
  isSaved: boolean
}

/** Asks for the provider, its address, its key and the model, as far as the options leave them out. */
export async function connectAtTerminal(
  options: ParsedOptions,
  host: Host,
  signal: AbortSignal,
): Promise<number> {
  using terminal = host.terminal()
  if (!terminal) throw new CrabError('usage', 'Cannot ask: the terminal is gone', { hint: 'use --key-stdin' })
  const dialog = { terminal, options, host, signal }
  const choice = (await readProviderChoice(options, host)) ?? (await askChoice(dialog))
  const baseUrl =
    options.value('base-url') ?? (choice.asksAddress ? await askAddress(dialog, choice) : undefined)
  const { connection, offered, isSaved } = await askUntilTried(dialog, { choice, baseUrl })
  if (isSaved && !options.has('model'))
    return finishConnect(
      host,
      { connection, model: undefined, isChecked: offered !== undefined },
      options,
      signal,
    )
  if (offered === undefined) {
    const model = options.value('model') ?? (await askModel(dialog, { names: [], usual: undefined }))
    return finishConnect(host, { connection, model, isChecked: false }, options, signal)
  }
  const model = options.value('model') ?? (await askModel(dialog, offered))
  if (model === undefined) throw unansweredQuestion()
  if (offered.names.length === 0) await tryModel(connection, model, host.env, signal)
  const context = offered.contexts.get(model)
  return finishConnect(host, { connection, model, context, isChecked: true }, options, signal)
}

async function askChoice({ terminal, host, signal }: ConnectDialog): Promise<ConnectChoice> {
  const choices = [...(await listSavedChoices(host)), ...(await listConnectChoices(host.env, signal))]
  const rows = choices.map(
    (choice, at) => `  ${`${at + 1}`.padStart(2)}  ${choice.title.padEnd(26)}${describeChoice(choice)}\n`,
  )
  terminal.output.write(`Connect a model provider:\n${rows.join('')}`)
  for (;;) {
    const answer = await askLine(terminal, 'Number: ', signal)
    const chosen = choices[Number(answer) - 1] ?? choices.find(({ id }) => id === answer.toLowerCase())
    if (chosen) return chosen
    terminal.output.write(`Type a number from 1 to ${choices.length}.\n`)
  }
}

function describeChoice({ keyVariable, models, key, asksAddress, saved }: ConnectChoice): string {
  if (saved) return `connected: replace the key (${describeKeyPlace(saved)})`
  if (models.length > 0) return sanitizeLine(`found on this machine: ${models.slice(0, 3).join(', ')}`)
  if (keyVariable !== undefined) return `${keyVariable} is set`
  const parts = [
    ...(asksAddress ? ['an address'] : []),
    ...(key === 'none' ? [] : [key === 'optional' ? 'a key, if needed' : 'a key']),
  ]
  return parts.join(' and ')
}

async function askAddress({ terminal, signal }: ConnectDialog, { id }: ConnectChoice): Promise<string> {
  const example = id === 'azure' ? 'https://RESOURCE.openai.azure.com' : 'http://localhost:4000/v1'
  for (;;) {
    const typed = await askLine(terminal, `Its address, such as ${example}: `, signal)
    if (isServerAddress(typed)) return typed
    terminal.output.write('That is not an http address.\n')
  }
}

/** Asks for the key until one works, or until the user saves it anyway. */
async function askUntilTried(
  dialog: ConnectDialog,
  { choice, baseUrl }: { choice: ConnectChoice; baseUrl: string | undefined },
): Promise<TriedConnection> {
  const { terminal, options, host, signal } = dialog
  for (;;) {
    const saved = await withSavedKey(choice, baseUrl, host, signal).catch((reason: unknown) => {
      const { kind, message } = toCrabError(reason)
      if (kind === 'cancelled' || signal.aborted) throw reason
      terminal.output.write(`${sanitizeLine(message)}\n`)
      return { choice, apiKey: undefined }
    })
    const typed = choice.key === 'none' ? undefined : await askKey(dialog, choice, saved.apiKey !== undefined)
    try {
      const key = typed === undefined ? saved : { choice, apiKey: typed }
      const connection = toConnection({ ...key, baseUrl, region: options.value('region') }, host.env)
      const isSaved = key.choice.saved !== undefined
      if (options.has('no-check')) return { connection, offered: undefined, isSaved }
      const offered = await tryOrExplain(dialog, connection)
      if (offered !== 'again') return { connection, offered, isSaved }
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      if (kind !== 'credentials' || signal.aborted) throw reason
      terminal.output.write(`${sanitizeLine(`${message}${hint === undefined ? '' : ` (${hint})`}`)}\n`)
    }
  }
}

/** Tries a connection; after a failure the user decides whether to try again or to save it anyway. */
async function tryOrExplain(
  dialog: ConnectDialog,
  connection: ProviderConnection,
): Promise<OfferedModels | undefined | 'again'> {
  const { terminal, host, signal } = dialog
  terminal.output.write(`Trying ${sanitizeLine(connection.title)}…\n`)
  try {
    return await tryConnection(connection, host.env, signal)
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    terminal.output.write(`${sanitizeLine(message)}\n${hint === undefined ? '' : `${sanitizeLine(hint)}\n`}`)
    const answer = await askLine(terminal, 'Enter tries again, s saves it anyway: ', signal)
    return /^s/i.test(answer) ? undefined : 'again'
  }
}

async function askKey(
  { terminal, host }: ConnectDialog,
  choice: ConnectChoice,
  isKnown: boolean,
): Promise<string | undefined> {
  await terminal.output.flush()
  const screen = host.screen()
  if (!screen) return undefined
  const { title, keyVariable, keyPage, key } = choice
  const how = isKnown
    ? '; Enter keeps the one it has'
    : keyVariable !== undefined
      ? `; Enter uses ${keyVariable}`
      : key === 'optional'
        ? '; Enter for none'
        : ''
  const page = keyPage === undefined ? '' : `Create a key at ${keyPage}\n`
  const typed = await readSecret({ screen, host }, `${page}Key for ${title} (not shown${how}): `)
  if (typed === undefined) throw unansweredQuestion()
  return typed.trim() === '' ? undefined : typed.trim()
}

async function askModel(
  { terminal, signal }: ConnectDialog,
  { names, usual }: Pick<OfferedModels, 'names' | 'usual'>,
): Promise<string | undefined> {
  const shown = names.slice(0, MAX_NAMES)
  const more = names.length > shown.length ? `  … and ${names.length - shown.length} more\n` : ''
  const list = shown.length > 1 ? shown.map((name) => `  ${sanitizeLine(name)}\n`).join('') + more : ''
  terminal.output.write(list)
  const answer = await askLine(
    terminal,
    usual === undefined ? 'Model: ' : `Model [${sanitizeLine(usual)}]: `,
    signal,
  )
  return answer === '' ? usual : answer
}

async function askLine(terminal: Terminal, prompt: string, signal: AbortSignal): Promise<string> {
  terminal.output.write(prompt)
  await terminal.output.flush()
  const line = await terminal.readLine(signal)
  if (line !== undefined) return line.trim()
  terminal.output.write('\n')
  throw unansweredQuestion()
}

function unansweredQuestion(): CrabError {
  return new CrabError('cancelled', 'Not connected: a question was left unanswered; nothing was written')
}

const MAX_NAMES = 20
