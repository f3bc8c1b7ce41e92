import type { ServiceSpec } from '../../../src/up/types.ts'

/** Directories as people have them, and as they could: everything that a unit file takes for something else. */
export const USUAL_HOME = '/home/anna/.crabtalk'
export const ODD_BASE = '/home'
export const ODD_HOME = `${ODD_BASE}/zoë "50%" & o'hara $USER\\n [x]*`

/** Windows has no quotes and no stars in paths. */
export const USUAL_WINDOWS_HOME = 'C:\\Users\\anna\\.crabtalk'
export const ODD_WINDOWS_HOME = "C:\\Users\\zoë 50% & o'hara $USER [x]"

/** Arguments that say something to systemd, to launchd's XML, or to a Windows command line. */
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

/** The daemon of a home, as systemd and launchd get it. */
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

/** The same on Windows. */
export function windowsSpec(home: string): ServiceSpec {
  return {
    ...daemonSpec(home),
    argv: [`${home}\\bin\\crabtalk.exe`, 'daemon', 'run'],
    envFile: `${home}\\service.env`,
    output: `${home}\\logs\\daemon.crash.log`,
  }
}

/** What the task of such a service runs. */
export function windowsLoop(home: string, ...more: readonly string[]): [string, ...string[]] {
  return [`${home}\\bin\\crabtalk.exe`, 'supervise', 'daemon', '--home', home, ...more]
}
