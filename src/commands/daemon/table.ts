import type { Command } from '../../cli/command.ts'
import { EXIT_ZERO_OPTION } from '../../cli/exit-zero-on-config-error.ts'
import { JSON_OPTION } from '../../cli/options.ts'

/** The rows of the command table for the daemon of a home. */
export const DAEMON_COMMANDS: readonly Command[] = [
  {
    path: ['daemon', 'run'],
    args: '',
    summary: 'Run the daemon in the foreground',
    details: `The daemon holds conversations, MCP servers and subscriptions for all commands. It listens on a socket that only your
user can open; it listens on TCP only if you ask for it, and then clients must present a token (crabtalk token). It writes
logs/daemon.log. SIGTERM and SIGINT end it within 5 s; SIGHUP reloads the configuration.`,
    options: [
      { name: 'tcp', summary: 'Also listen on 127.0.0.1:6688' },
      {
        name: 'port',
        value: 'N',
        summary: 'Also listen on this TCP port; 0 picks a free one, written to run/crabtalk.port',
      },
      { name: 'idle-exit', value: 'TIME', summary: 'Exit after this time without clients and turns' },
      {
        name: 'env-file',
        value: 'FILE',
        kind: 'file',
        summary: 'Load KEY=VALUE defaults; real variables win, a missing file is ignored',
      },
      EXIT_ZERO_OPTION,
    ],
    examples: ['crabtalk daemon run', 'crabtalk daemon run --port 0'],
    load: async () => (await import('./run.ts')).runDaemonCommand,
  },
  {
    path: ['daemon', 'status'],
    args: '',
    summary: 'Show the status of the daemon',
    details: 'Exits with 3 when no daemon is running.',
    options: [JSON_OPTION],
    examples: ['crabtalk daemon status', 'crabtalk daemon status --json | jq .memory_bytes'],
    load: async () => (await import('./status.ts')).daemonStatusCommand,
  },
  {
    path: ['daemon', 'reload'],
    args: '',
    summary: 'Reload the configuration of the daemon',
    details: 'Files with errors are reported and keep their previous settings.',
    options: [],
    examples: ['crabtalk daemon reload'],
    load: async () => (await import('./control.ts')).reloadDaemonCommand,
  },
  {
    path: ['daemon', 'stop'],
    args: '',
    summary: 'Stop the daemon and wait until it has exited',
    details: 'Running turns get 1.5 s to end; then they are cancelled. Their messages are kept.',
    options: [],
    examples: ['crabtalk daemon stop'],
    load: async () => (await import('./control.ts')).stopDaemonCommand,
  },
]
