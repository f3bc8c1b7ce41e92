import { readTomlValue } from '../../cli/assignment.ts'
import type { CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { readStream, toText } from '../../cli/named-file.ts'
import { printLine } from '../../cli/print.ts'
import { parseConfigKey } from './keys.ts'
import { writeConfigKey } from './write-key.ts'

/** Runs `crabtalk config set`. */
export const setConfigCommand: CommandHandler = async ({ options, host, signal }) => {
  const [key = '', text = ''] = options.args
  const path = parseConfigKey(key)
  const value = text === '-' ? await readPiped(host) : text
  await writeConfigKey({ path, value: readTomlValue(value) }, host, signal)
  return printLine(host, `set ${key}`)
}

/** Runs `crabtalk config unset`. */
export const unsetConfigCommand: CommandHandler = async ({ options, host, signal }) => {
  const [key = ''] = options.args
  await writeConfigKey({ path: parseConfigKey(key), value: undefined }, host, signal)
  return printLine(host, `removed ${key}`)
}

async function readPiped(host: Host): Promise<string> {
  return toText(await readStream(host.stdin(), STDIN), STDIN).replace(/\r?\n$/, '')
}

const STDIN = 'standard input'
