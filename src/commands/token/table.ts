import type { Command } from '../../cli/command.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for the tokens of TCP clients. */
export const TOKEN_COMMANDS: readonly Command[] = [
  {
    path: ['token', 'new'],
    args: '<name>',
    summary: 'Create a token for a TCP client and print it once',
    details: `A client with the token NAME can use only the conversations of senders that start with "NAME:"; permissions treat it as untrusted. NAME is 1 to 32 of a-z, 0-9, _ and -. Standard output has only the token, so that a
script can read it; the home stores only its hash.`,
    options: [
      {
        name: 'agent',
        short: 'a',
        value: 'NAME',
        kind: 'agent',
        fallback: 'any',
        summary: 'The only agent that the client may talk to',
      },
    ],
    examples: ['crabtalk token new telegram', 'crabtalk token new web --agent crab > web.token'],
    load: async () => (await import('./change.ts')).createTokenCommand,
  },
  {
    path: ['token', 'list'],
    args: '',
    summary: 'List the tokens of TCP clients, and when each was last used',
    details:
      'The token "tcp" is the one in run/tcp.token, which the daemon creates. The tokens themselves are never shown.',
    options: [JSON_OPTION],
    examples: ['crabtalk token list', "crabtalk token list --json | jq -r '.[].name'"],
    load: async () => (await import('./list.ts')).listTokensCommand,
  },
  {
    path: ['token', 'revoke'],
    args: '<name>',
    kinds: ['token'],
    summary: 'Revoke a token and disconnect its clients',
    details: 'Takes effect immediately, also in a running daemon. The token "tcp" is replaced by a new one.',
    options: [],
    examples: ['crabtalk token revoke telegram'],
    load: async () => (await import('./change.ts')).revokeTokenCommand,
  },
]
