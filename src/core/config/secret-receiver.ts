import type { JsonObject } from '../base/message.ts'
import { startsOthers } from '../base/programs/starts-others.ts'
import { REDACTED, redactWords } from '../base/secrets/redact.ts'
import { isTable } from './schema.ts'

/**
 * Returns the reason why an entry's stored secrets would be sent to another program or host than they were
 * stored for; undefined when the receiver is the same.
 *
 * The arguments of a shell, an interpreter or a launcher determine which program runs, and the working
 * directory determines where it is found.
 */
export function findOtherReceiver(sent: JsonObject, stored: JsonObject): string | undefined {
  const { command, url } = stored
  if (typeof url === 'string' && !isSameHost(sent['url'], url))
    return 'stored secrets are kept only for the same scheme, host and port of "url"'
  if (typeof command !== 'string') return undefined
  if (!isSameName(sent['command'], command)) return 'stored secrets are kept only for the same "command"'
  if (startsOthers(command) && !isSameWords(commandLine(sent), commandLine(stored)))
    return `stored secrets are kept only for the same "args", which decide what ${programName(command)} starts`
  if (dependsOnDirectory(command) && (sent['cwd'] ?? '') !== (stored['cwd'] ?? ''))
    return `stored secrets are kept only for the same "cwd", where ${programName(command)} finds what it starts`
  const variable = findOtherVariable(sent['env'], stored['env'])
  return (
    variable && `stored secrets are kept only for the same "env.${variable}", which can name another program`
  )
}

/** Whether a command line starts the same program, so that its secrets may be restored. */
export function isSameProgram(sent: unknown, stored: unknown): boolean {
  if (!isWords(sent) || !isWords(stored)) return false
  const [program = ''] = stored
  return isSameName(sent[0], program) && (!startsOthers(program) || isSameWords(sent, stored))
}

/** Whether a value is an array of strings. */
export function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Whether each word equals the stored one or its redacted form. */
function isSameWords(sent: unknown, stored: unknown): boolean {
  if (!isWords(sent) || !isWords(stored) || sent.length !== stored.length) return false
  const redacted = redactWords(stored)
  return sent.every((word, i) => word === stored[i] || word === redacted[i])
}

function isSameName(sent: unknown, stored: string): boolean {
  return sent === stored || sent === redactWords([stored])[0]
}

function commandLine({ command, args }: JsonObject): unknown[] {
  return [command, ...(Array.isArray(args) ? args : [args])].filter((word) => word !== undefined)
}

function dependsOnDirectory(command: string): boolean {
  return startsOthers(command) || (/[/\\]/.test(command) && !/^(?:[/\\]|[a-z]:)/i.test(command))
}

/** Returns a variable that decides which programs or code run and that differs from the stored one, or is gone. */
function findOtherVariable(sent: unknown, stored: unknown): string | undefined {
  const [after, before] = [isTable(sent) ? sent : {}, isTable(stored) ? stored : {}]
  return Object.keys({ ...before, ...after }).find((name) => {
    return CODE_VARIABLE.test(name) && after[name] !== REDACTED && after[name] !== before[name]
  })
}

function isSameHost(sent: unknown, stored: string): boolean {
  if (typeof sent !== 'string') return false
  if (sent === stored || sent === redactWords([stored])[0]) return true
  const [one, other] = [URL.parse(sent), URL.parse(stored)]
  return one !== null && one.protocol === other?.protocol && one.host === other.host
}

function programName(command: string): string {
  return redactWords([command])[0]!.replace(/^.*[/\\]/, '')
}

/**
 * Variables of loaders, shells, interpreters and package runners that name programs, code or the source of
 * code.
 */
const CODE_VARIABLE =
  /^(?:PATH|PATHEXT|COMSPEC|SHELL|LD_.*|DYLD_.*|BASH_ENV|ENV|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP)|PERL5.*|RUBY(?:OPT|LIB)|.*JAVA_(?:TOOL_)?OPTIONS|CLASSPATH|npm_.*|(?:UV|PIP|PIPX|BUN|DENO|DOCKER|GIT)_.*)$/i
