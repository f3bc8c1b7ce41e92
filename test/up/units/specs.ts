import type { ServiceSpec } from '../../../src/up/types.ts'

/** A usual home directory, and an odd one with every character that a unit file interprets. */
export const USUAL_HOME = '/home/anna/.crabtalk'
export const ODD_BASE = '/home'
export const ODD_HOME = `${ODD_BASE}/zoë "50%" & o'hara $USER\\n [x]*`

/** Windows paths cannot contain quotes or stars. */
export const USUAL_WINDOWS_HOME = 'C:\\Users\\anna\\.crabtalk'
export const ODD_WINDOWS_HOME = "C:\\Users\\zoë 50% & o'hara $USER [x]"

/** Arguments that systemd, launchd's XML or a Windows command line would interpret. */
export const ODD_ARGUMENTS = [
  '',
  ' ',
  ';',
  `-x=$HOME $\{HOME} $$`,
  '100%h %% %n',
  'a "b" \'c\' \\" \\\\ d\\',
  '<tag> &amp; ]]> <!-- -->',
  'größe 漢字 🦀',
]

/** Returns the daemon of a home, as systemd and launchd get it. */
export function daemonSpec(home: string, ...more: readonly string[]): ServiceSpec {
  return {
    name: 'daemon',
    label: 'ai.crabtalk.daemon',
    description: 'Agents, conversations, memory and MCP servers',
    argv: [`${home}/bin/crabtalk`, 'daemon', 'run', ...more],
    cwd: home,
    env: { CRABTALK_HOME: home, PATH: `${home}/bin:/usr/local/bin:/usr/bin:/bin` },
    envFile: `${home}/service.env`,
    output: `${home}/logs/daemon.crash.log`,
  }
}

/** Returns the same service on Windows. */
export function windowsSpec(home: string): ServiceSpec {
  return {
    ...daemonSpec(home),
    argv: [`${home}\\bin\\crabtalk.exe`, 'daemon', 'run'],
    envFile: `${home}\\service.env`,
    output: `${home}\\logs\\daemon.crash.log`,
  }
}

/** Returns the command that the task of such a service runs. */
export function windowsLoop(home: string, ...more: readonly string[]): [string, ...string[]] {
  return [`${home}\\bin\\crabtalk.exe`, 'supervise', 'daemon', '--home', home, ...more]
}
