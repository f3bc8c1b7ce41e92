import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runTool } from '../../../src/core/process/run-tool.ts'
import type { ServiceSpec, UpHost } from '../../../src/up/types.ts'

/** Labels of real services are separate, for tests with a systemd that really runs. */
const FAKES = ['fakes', 'fakes-of-login'].map((name) => join(import.meta.dirname, name))

/** A host whose service managers are small fake programs that record their calls. */
export interface ManagerHost extends AsyncDisposable {
  host: UpHost
  /** The user's home directory. */
  home: string
  /** The folder where the fake programs keep their state; each documents the files it reads. */
  state: string
  spec: ServiceSpec
  /** Returns the calls since the last query, as lines. */
  calls(): Promise<string[]>
  set(file: string, text?: string): Promise<void>
}

/** Creates a host; `env` is added to the environment of the programs. */
export async function makeManagerHost(env: Readonly<Record<string, string>> = {}): Promise<ManagerHost> {
  const folder = await mkdtemp(join(tmpdir(), 'crab stage '))
  const [home, state] = [join(folder, 'home'), join(folder, 'state')]
  for (const path of [home, state]) await mkdir(path)
  const all = {
    HOME: home,
    PATH: [...FAKES, process.env['PATH']].join(delimiter),
    FAKE_STATE: state,
    USERNAME: 'anna',
    USERDOMAIN: 'DESK',
    ...env,
  }
  const calls = join(state, 'calls')
  return {
    home,
    state,
    host: {
      env: all,
      platform: 'linux',
      pid: process.pid,
      uid: 501,
      homeDir: home,
      run: (argv, options, signal) => runTool(argv, { ...options, env: options.env ?? all }, signal),
      now: () => Date.now(),
    },
    spec: makeServiceSpec(join(home, '.crabtalk')),
    async calls() {
      const text = await readFile(calls, 'utf8').catch(() => '')
      await rm(calls, { force: true })
      return text.split('\n').slice(0, -1)
    },
    set: (file, text = '') => writeFile(join(state, file), text),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Returns the spec of a service that runs a shell until it is stopped. */
export function makeServiceSpec(home: string, script = 'sleep 1000 & wait'): ServiceSpec {
  return {
    name: 'daemon',
    label: 'ai.crabtalk.daemon',
    description: 'Agents',
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { CRABTALK_HOME: home, PATH: '/usr/bin:/bin' },
    envFile: join(home, 'service.env'),
    output: join(home, 'logs/daemon.crash.log'),
  }
}
