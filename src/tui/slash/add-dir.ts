import { quoteWord } from '../../core/base/quote-word.ts'
import { printNotice } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/add-dir [DIR]`: treats files in a directory like those in the working directory; without DIR, lists the added directories. */
export async function addDirectory(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { roots } = context.state()
  if (args === '') {
    const text = roots.length === 0 ? 'No added directories' : `Added: ${roots.join(', ')}`
    return printNotice(context, 'info', text)
  }
  const path = await findDirectory(args, context, signal)
  if (path === undefined) return printNotice(context, 'warning', `Cannot add ${args}: it is not a directory`)
  if (!roots.includes(path)) context.act({ type: 'set', change: { roots: [...roots, path] } })
  printNotice(
    context,
    'success',
    `Added ${path}`,
    'its files are treated like those in the working directory',
  )
}

/** Returns the absolute path of a directory, as the shell of the user finds it from the working directory. */
export async function findDirectory(
  path: string,
  { ports }: SlashContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const word = path.startsWith('~/') ? `~/${quoteWord(path.slice(2))}` : quoteWord(path)
  const { output, exitCode } = await ports.runShell(
    `cd -- ${path === '~' ? '~' : word} && pwd -P`,
    () => {},
    signal,
  )
  return exitCode === 0 ? output.trimEnd() : undefined
}
