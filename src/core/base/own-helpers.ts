/** A key of an MCP server or a provider that names a program which prints credentials. */
export type HelperKey = 'env_helper' | 'auth_helper' | 'key_helper'

/** The name of this program in a helper: the running one is meant. */
export const OWN_NAME = 'crabtalk'

/** The commands of this program that print credentials for other programs, each with the key that may have it. */
const OWN_HELPERS = {
  'vault env': 'env_helper',
  'vault header': 'auth_helper',
  'mcp token': 'auth_helper',
  'vault key': 'key_helper',
} as const satisfies Record<string, HelperKey>

/** A command of this program that prints credentials for another program. */
export type OwnHelper = keyof typeof OWN_HELPERS

/** Finds the command of this program that a helper is; undefined for any other program or command. */
export function findOwnHelper([program, group, verb]: readonly unknown[]): OwnHelper | undefined {
  const command = `${String(group)} ${String(verb)}`
  return program === OWN_NAME && Object.hasOwn(OWN_HELPERS, command) ? (command as OwnHelper) : undefined
}

/**
 * Whether an MCP server may have a helper. The server receives what the helper prints, so of this program only the
 * commands of that key are allowed: `crabtalk vault key` prints the key of a model provider.
 */
export function isServerHelper(key: HelperKey, words: readonly unknown[]): boolean {
  if (!OWN_PROGRAM.test(String(words[0]))) return true
  const command = findOwnHelper([OWN_NAME, ...words.slice(1)])
  return command !== undefined && OWN_HELPERS[command] === key
}

/** Returns the rule that isServerHelper() checks, as the end of a sentence about the key. */
export function describeServerHelpers(key: HelperKey): string {
  const allowed = Object.entries(OWN_HELPERS).filter(([, owner]) => owner === key)
  return `must not be a command of crabtalk other than ${allowed.map(([name]) => `${OWN_NAME} ${name}`).join(' and ')}`
}

const OWN_PROGRAM = /(?:^|[/\\])crabtalk(?:\.exe)?$/i
