import { readSecret } from '../../cli/ask/secret.ts'
import type { Host } from '../../cli/host.ts'
import { readStream, toText } from '../../cli/named-file.ts'
import { CrabError } from '../../core/base/errors.ts'

/**
 * Reads a secret from standard input, or asks for it on a terminal without showing it. `task` is the verb and object
 * of the errors. Throws `usage` when there is neither, and `no-input` for an empty one.
 */
export async function readSecretValue(task: string, prompt: string, host: Host): Promise<string> {
  const value = await readAny(task, prompt, host)
  if (value !== '') return value
  throw new CrabError('no-input', `Cannot ${task}: the value is empty`, { hint: 'type it, or pipe it' })
}

/**
 * Reads a secret that cannot be read again later, as readSecretValue() does; on a terminal it is asked for twice.
 * Throws `usage` when the two differ.
 */
export async function readSecretTwice(task: string, noun: string, host: Host): Promise<string> {
  const value = await readSecretValue(task, `New ${noun} (not shown): `, host)
  const kind = host.stdinKind()
  if (kind === 'pipe' || kind === 'file') return value
  if ((await askSecret(`The same ${noun} again (not shown): `, host)) === value) return value
  throw new CrabError('usage', `Cannot ${task}: the two are not the same`, { hint: 'nothing has changed' })
}

async function readAny(task: string, prompt: string, host: Host): Promise<string> {
  const kind = host.stdinKind()
  if (kind === 'pipe' || kind === 'file') {
    const text = toText(await readStream(host.stdin(), 'standard input'), 'standard input')
    return text.replace(/\r?\n$/, '') // most programs end a line
  }
  const typed = await askSecret(prompt, host)
  if (typed !== undefined) return typed
  throw new CrabError('usage', `Cannot ${task}: there is no value, and no terminal to ask on`, {
    hint: 'pipe it, for example: pass github | crabtalk vault set GITHUB_TOKEN',
  })
}

/** Asks for a secret; undefined when there is no user at a terminal, or the user gives none. */
export async function askSecret(prompt: string, host: Host): Promise<string | undefined> {
  const screen = host.screen()
  if (!screen) return undefined
  return (await readSecret({ screen, host }, prompt))?.trim()
}
