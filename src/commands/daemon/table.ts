import type { Command } from '../../cli/command.ts'
import { EXIT_ZERO_OPTION } from '../../cli/exit-zero-on-config-error.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for the daemon of a home. */
export const DAEMON_COMMANDS: readonly Command[] = [
  {
    path: ['daemon', 'run'],
    args: '',
    summary: 'Be the daemon, in the foreground',
    details: `Conversations, MCP servers and subscriptions live in it, whichever command uses them. It listens on a socket that only
you can open; over TCP only when told to, and clients must show a token then (crabtalk token). It writes
logs/daemon.log. SIGTERM and SIGINT end it within 5 s, SIGHUP reloads the configuration.`,
    options: [
      { name: 'tcp', summary: 'Listen on 127.0.0.1:6688 as well' },
      { name: 'port', value: 'N', summary: 'The port for that; 0 picks a free one, see run/crabtalk.port' },
      { name: 'idle-exit', value: 'TIME', summary: 'End after so long without clients and turns' },
      {
        name: 'env-file',
        value: 'FILE',
        kind: 'file',
        summary: 'Lay KEY=VALUE lines under the environment; the file need not exist',
      },
      EXIT_ZERO_OPTION,
    ],
    examples: ['crabtalk daemon run', 'crabtalk daemon run --port 0'],
    load: async () => (await import('./run.ts')).runDaemonCommand,
  },
  {
    path: ['daemon', 'status'],
    args: '',
    summary: 'Show the daemon: where it is, and what it does',
    details: 'Exits 3 when none runs.',
    options: [JSON_OPTION],
    examples: ['crabtalk daemon status', 'crabtalk daemon status --json | jq .memory_bytes'],
    load: async () => (await import('./status.ts')).daemonStatusCommand,
  },
  {
    path: ['daemon', 'reload'],
    args: '',
    summary: 'Let it read its configuration again',
    details: 'What is wrong in a file is said; what stands in it stays as it was.',
    options: [],
    examples: ['crabtalk daemon reload'],
    load: async () => (await import('./reload.ts')).reloadDaemonCommand,
  },
  {
    path: ['daemon', 'stop'],
    args: '',
    summary: 'End it, and wait until it is gone',
    details: 'Running turns get two seconds to end; then they are cancelled, and what was said is kept.',
    options: [],
    examples: ['crabtalk daemon stop'],
    load: async () => (await import('./stop.ts')).stopDaemonCommand,
  },
]
