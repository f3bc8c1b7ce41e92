import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { readStream, toText } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { type ProviderConnection, toConnection } from '../../core/connect/connection.ts'
import { tryConnection, tryModel } from '../../core/connect/try-connection.ts'
import { isCalled } from '../../core/provider/facts.ts'
import { finishConnect, readProviderChoice, withSavedKey } from './finish.ts'

/** Runs `crabtalk connect`: asks on a terminal for what the options leave out, and otherwise fails for it. */
export const connectCommand: CommandHandler = async ({ options, host, signal }) => {
  const isAttended = host.screen() !== undefined && !options.has('key-stdin') && !options.has('json')
  if (!isAttended) return await connectUnattended(options, host, signal)
  const { connectAtTerminal } = await import('./dialog.ts')
  return await connectAtTerminal(options, host, signal)
}

async function connectUnattended(options: ParsedOptions, host: Host, signal: AbortSignal): Promise<number> {
  const choice = await readProviderChoice(options, host)
  if (!choice) {
    throw new CrabError('usage', 'Cannot connect: no provider is named, and there is no terminal to ask on', {
      hint: 'for example crabtalk connect anthropic --key-stdin',
    })
  }
  const { value, has } = options
  const key = has('key-stdin')
    ? { choice, apiKey: await readKey(host) }
    : await withSavedKey(choice, value('base-url'), host, signal)
  const connection = toConnection({ ...key, baseUrl: value('base-url'), region: value('region') }, host.env)
  if (has('no-check'))
    return finishConnect(host, { connection, model: value('model'), isChecked: false }, options, signal)
  const { names, usual, contexts } = await tryConnection(connection, host.env, signal)
  const keepsModel = key.choice.saved !== undefined && !has('model')
  const model = keepsModel ? undefined : chooseModel(connection, { names, usual, wanted: value('model') })
  if (names.length === 0 && model !== undefined) await tryModel(connection, model, host.env, signal)
  const context = model === undefined ? undefined : contexts.get(model)
  return finishConnect(host, { connection, model, context, isChecked: true }, options, signal)
}

/** Reads the key from standard input, without the line break that most programs end it with. */
async function readKey(host: Host): Promise<string> {
  const text = toText(await readStream(host.stdin(), 'standard input'), 'standard input').trim()
  if (text !== '') return text
  throw new CrabError('credentials', 'Cannot connect: standard input is empty', {
    hint: 'pipe the key into crabtalk connect',
  })
}

function chooseModel(
  { title }: ProviderConnection,
  {
    names,
    usual,
    wanted,
  }: { names: readonly string[]; usual: string | undefined; wanted: string | undefined },
): string {
  if (wanted === undefined) {
    if (usual !== undefined) return usual
    throw new CrabError('config', `Cannot choose a model: ${title} does not list its models`, {
      hint: 'name one with --model',
    })
  }
  if (names.length === 0 || names.some((name) => isCalled(name, wanted))) return wanted
  throw new CrabError('missing', `Cannot use the model "${wanted}": ${title} does not list it`, {
    hint: didYouMean(wanted, names) ?? '--no-check writes it anyway',
  })
}
