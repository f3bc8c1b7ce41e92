import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { main } from '../../src/commands/main.ts'
import { type ModelServer, type Script, startModelServer } from './model-server.ts'
import { makeTestHost, type TestHost, type TestHostOptions } from './test-host.ts'

/** `crabtalk` inside this process, with a home whose config.toml names a scripted model server. */
export interface SendTest extends AsyncDisposable {
  readonly server: ModelServer
  readonly at: TestHost
  readonly home: string
  /** Runs a command line to its end; returns only its own output, not that of earlier runs. */
  run(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }>
}

export async function startSendTest(script: Script, options: TestHostOptions = {}): Promise<SendTest> {
  const at = await makeTestHost(options)
  const server = await startModelServer(script)
  const home = join(at.folder, 'home')
  await mkdir(home)
  const config = `[llm]\nbase_url = "${server.url}"\napi_key = "sk-test-0123456789"\nmodel = "scripted"\n`
  await writeFile(join(home, 'config.toml'), config)
  const host = { ...at.host, env: { CRABTALK_HOME: home, ...options.env } }
  return {
    server,
    at,
    home,
    async run(...argv) {
      const before = [at.stdout().length, at.stderr().length]
      const code = await main('crabtalk', argv, host)
      return { code, stdout: at.stdout().slice(before[0]), stderr: at.stderr().slice(before[1]) }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await at[Symbol.asyncDispose]()
    },
  }
}
