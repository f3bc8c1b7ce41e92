import type { Host } from '../../src/cli/host.ts'
import { parseOptions } from '../../src/cli/parse.ts'
import { readSettings, type SendSettings } from '../../src/commands/send/settings.ts'
import { CRABTALK } from '../../src/commands/table.ts'

/** Parses the settings of a `crabtalk send` command line. */
export async function parseSendSettings(argv: readonly string[], host: Host): Promise<SendSettings> {
  const command = CRABTALK.find(({ path }) => path[0] === 'send')!
  return await readSettings(parseOptions({ program: 'crabtalk', command }, argv), host, NEVER)
}

const NEVER = new AbortController().signal
