import { CrabError } from '../../core/base/errors.ts'
import { type ForeignServer, readForeignEntries, toServerName } from '../../edge/import/foreign-entry.ts'

/** The servers in a pasted text, with notices about the text. */
export interface PastedServers {
  servers: readonly ForeignServer[]
  /** Sentences without a full stop. */
  notices: readonly string[]
}

/** Whether a word is an entry as JSON instead of a command or a name. */
export function isJsonText(word: string): boolean {
  return /^\s*(?:[{[]|"[^"]*"\s*:|\/[/*]|```)/.test(word)
}

/**
 * Reads servers as their pages, or other programs, write them. A name selects one of several, or names the
 * only one; without it all are read, each by its own name. Throws `usage`.
 */
export function readPastedServers(text: string, name: string | undefined): PastedServers {
  const { servers, notices } = readText(text)
  if (name === undefined) {
    if (servers.length > 0) return { servers, notices }
    throw invalidEntry(notices.join('; '))
  }
  const [one, ...others] = servers
  const named = servers.find((server) => server.name === toServerName(name))
  if (one === undefined) throw invalidEntry(notices.join('; '))
  if (named) return { servers: [{ ...named, name }], notices: [] }
  if (others.length === 0) {
    const own = one.notices.filter((notice) => !notice.endsWith(` is called ${one.name} here`))
    return { servers: [{ ...one, name, notices: own }], notices }
  }
  const names = servers.map((server) => server.name).join(', ')
  throw invalidEntry(`none of its servers is named ${name}`, `use one of its names: ${names}`)
}

function readText(text: string): PastedServers {
  try {
    return readForeignEntries(text)
  } catch (reason) {
    if (!(reason instanceof CrabError)) throw reason
    const why = reason.message.replace(/^Cannot read the servers: /, '')
    throw invalidEntry(why, reason.hint)
  }
}

function invalidEntry(why: string, hint?: string): CrabError {
  return new CrabError('usage', `Cannot use the JSON in place of a command: ${why}`, {
    hint: hint ?? `for example '{"command": "npx", "args": ["-y", "some-server"]}'`,
  })
}
