import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { readContent } from './content.ts'
import { toJsonEntry } from './entries.ts'
import { summarizeEntry } from './list.ts'

/** Runs `crabtalk memory remember`. */
export const rememberCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', ...words] = options.args
  const content = await readContent(words, host, signal)
  const value = { name, content, aliases: [...options.values('alias')] }
  const entry = await applyOp({ options, host, op: { $case: 'remember', value } }, signal)
  return printEntry('remembered', entry, { options, host })
}

/** Runs `crabtalk memory rename`. */
export const renameMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', newName = ''] = options.args
  const op = { $case: 'rename', value: { name, newName } } as const
  return printEntry('renamed', await applyOp({ options, host, op }, signal), { options, host })
}

/** Runs `crabtalk memory alias`. */
export const aliasMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = '', ...add] = options.args
  const remove = [...options.values('remove')]
  if (add.length + remove.length === 0) {
    throw new CrabError('usage', 'Cannot change aliases: none is given', {
      hint: `for example crabtalk memory alias ${name} OTHER, or --remove OTHER`,
    })
  }
  const op = { $case: 'alias', value: { name, add, remove } } as const
  return printEntry('changed', await applyOp({ options, host, op }, signal), { options, host })
}

type Op =
  | { $case: 'remember'; value: { name: string; content: string; aliases: string[] } }
  | { $case: 'rename'; value: { name: string; newName: string } }
  | { $case: 'alias'; value: { name: string; add: string[]; remove: string[] } }

async function applyOp(
  { options, host, op }: { options: ParsedOptions; host: Host; op: Op },
  signal: AbortSignal,
): Promise<MemoryEntry> {
  await using attached = await attach(host, { signal })
  return await request(attached.dispatch, 'memoryOp', { agent: options.value('agent') ?? '', op }, signal)
}

function printEntry(
  verb: string,
  entry: MemoryEntry,
  { options, host }: { options: ParsedOptions; host: Host },
): number {
  if (options.has('json')) return printJson(host, toJsonEntry(entry))
  host.stdout.write(`${verb} ${summarizeEntry(entry)}\n`)
  return 0
}
