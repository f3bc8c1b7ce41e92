import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { CommandHandler } from '../../cli/command.ts'
import { openEditor } from '../../cli/editor.ts'
import type { Host, Terminal } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printLine } from '../../cli/print.ts'
import { keepRejected } from '../../cli/rejected-file.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { writeConfigText } from '../../core/config/change-config.ts'
import { toConfig } from '../../core/config/config.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { parseToml } from '../../core/config/toml.ts'
import { configError, type FileIssue } from '../../core/config/validation-issue.ts'
import { lockConfig } from './write-key.ts'

/** Runs `crabtalk config edit`: edits a copy, which replaces the file once it is valid. */
export const editConfigCommand: CommandHandler = async ({ host, signal }) => {
  using terminal = host.stdinKind() === 'terminal' ? host.terminal() : undefined
  if (!terminal) {
    throw new CrabError('usage', 'Cannot open an editor: there is no terminal', {
      hint: 'crabtalk config set changes one key',
    })
  }
  const { config } = resolvePaths(host)
  const before = (await readTextFile(config)) ?? ''
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const copy = join(folder.path, basename(config))
  await writeFile(copy, before, { mode: 0o600 })
  try {
    const after = await editUntilValid(copy, { host, terminal }, signal)
    if (after === before) return printLine(host, 'no changes')
    await save({ before, after }, host, signal)
  } catch (reason) {
    throw await keepText({ config, copy, before }, toCrabError(reason))
  }
  return printLine(host, `saved ${config}`)
}

/** Keeps what the user changed in a file beside config.toml, and returns the error with its path in the hint. */
async function keepText(
  { config, copy, before }: { config: string; copy: string; before: string },
  error: CrabError,
): Promise<CrabError> {
  const text = await readTextFile(copy)
  if (text === undefined || text === before) return error
  const path = await keepRejected(config, text)
  const hint = [error.hint, `your text is in ${path}`].filter((part) => part !== undefined).join('; ')
  return new CrabError(error.kind, error.message, { cause: error, hint })
}

/** Opens the editor until the copy is valid or the user gives up. Throws `config` with the problems then. */
async function editUntilValid(
  copy: string,
  { host, terminal }: { host: Host; terminal: Terminal },
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    await openEditor([copy], host)
    const text = await readFile(copy, 'utf8')
    const problems = findTextProblems(basename(copy), text)
    if (problems.length === 0) return text
    terminal.output.write(sanitize(`${configError(problems).message}\nEdit again? [Y/n] `))
    await terminal.output.flush()
    const answer = await terminal.readLine(signal)
    if (answer === undefined || /^\s*n/i.test(answer)) throw configError(problems)
  }
}

async function save(
  { before, after }: { before: string; after: string },
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  await using locked = await lockConfig(host, signal)
  const { paths } = locked
  if (((await readTextFile(paths.config)) ?? '') !== before) {
    throw new CrabError('conflict', `Cannot save ${paths.config}: it has changed since the editor was opened`)
  }
  await writeConfigText(paths, after)
}

function findTextProblems(file: string, text: string): readonly FileIssue[] {
  const document = parseToml(file, text)
  const outcome = document.ok ? toConfig(document.value) : document
  return outcome.ok ? [] : outcome.problems
}
