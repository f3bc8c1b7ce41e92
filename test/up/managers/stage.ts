import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runTool } from '../../../src/core/process/run-tool.ts'
import type { ServiceSpec, UpHost } from '../../../src/up/types.ts'

/** Those of login services stand apart, for tests with a systemd that really runs. */
const FAKES = ['fakes', 'fakes-of-login'].map((name) => join(import.meta.dirname, name))

/** A host whose service managers are small programs of ours, which write down how they were called. */
export interface Stage extends AsyncDisposable {
  host: UpHost
  /** The person's own directory. */
  home: string
  /** Where the programs keep what they know; each says which files it reads. */
  state: string
  spec: ServiceSpec
  /** The calls since it was last asked, as lines. */
  calls(): Promise<string[]>
  set(file: string, text?: string): Promise<void>
}

/** Makes one; `env` is laid over what the programs get. */
export async function makeStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
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
    spec: stageSpec(join(home, '.crabtalk')),
    async calls() {
      const text = await readFile(calls, 'utf8').catch(() => '')
      await rm(calls, { force: true })
      return text.split('\n').slice(0, -1)
    },
    set: (file, text = '') => writeFile(join(state, file), text),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** A service of a home, which runs a shell for as long as nobody ends it. */
export function stageSpec(home: string, script = 'sleep 1000 & wait'): ServiceSpec {
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
