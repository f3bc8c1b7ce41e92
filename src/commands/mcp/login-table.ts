import type { Command } from '../../cli/command.ts'
import { AGENT_OPTION as agent, JSON_OPTION as json } from '../../cli/options.ts'

/** The rows of the command table for logins to remote MCP servers. */
export const MCP_LOGIN_COMMANDS: readonly Command[] = [
  {
    path: ['mcp', 'login'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Log in to a remote server',
    details: `Opens the login page of the server in your browser and stores the tokens in the vault. The entry gets an auth_helper that
prints them; they are refreshed when they expire. All agents with the same address share the login. If the browser is on
another machine, paste the address of the page on which the login ends.`,
    options: [
      agent,
      { name: 'no-browser', summary: 'Print the address instead of opening a browser' },
      {
        name: 'port',
        value: 'PORT',
        fallback: 'the port of the last login, or any free one',
        summary: 'The port on 127.0.0.1 to which the browser returns',
      },
      {
        name: 'scope',
        value: 'SCOPE',
        fallback: 'what the server names',
        summary: 'The permissions to request',
      },
      {
        name: 'client-id',
        value: 'ID',
        summary: 'The id of an OAuth app that you created, or the address of its metadata',
      },
      { name: 'client-secret', summary: 'Ask for the secret of that app, or read it from standard input' },
      { name: 'client-credentials', summary: 'Log in as that app, without a user and a browser' },
      {
        name: 'issuer',
        value: 'URL',
        summary: 'Accept this authorization server only; it may be in a private network',
      },
      json,
    ],
    examples: [
      'crabtalk mcp login linear',
      'crabtalk mcp login linear --no-browser',
      'crabtalk mcp login slack --client-id 123.456 --client-secret --port 3118',
    ],
    load: async () => (await import('./login.ts')).logInCommand,
  },
  {
    path: ['mcp', 'logout'],
    args: '<name>',
    kinds: ['server'],
    summary: 'Log out of a remote server',
    details: `Revokes the tokens and removes them from the vault. NAME may be the address of a server that was removed.`,
    options: [agent, json],
    examples: ['crabtalk mcp logout linear'],
    load: async () => (await import('./login.ts')).logOutCommand,
  },
  {
    path: ['mcp', 'token'],
    args: '[name]',
    kinds: ['server'],
    summary: 'Print the token of a login, as the auth_helper of a server',
    details: `Prints JSON with the token and the time at which it expires; refreshes it first if necessary. On a terminal the token
itself is printed with --reveal only. Without NAME, the server is the one that runs it as its auth_helper.`,
    options: [agent, { name: 'reveal', summary: 'Print the token on a terminal too' }],
    examples: ['crabtalk mcp token linear'],
    load: async () => (await import('./token.ts')).loginTokenCommand,
  },
]
