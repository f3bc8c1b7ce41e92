import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, type Script, startModelServer } from './model-server.ts'
import { type TemporaryHome, temporaryHome } from './temporary-home.ts'

/** Creates a home whose config.toml names a scripted model server. */
export async function makeModelHome(script: Script): Promise<TemporaryHome & { server: ModelServer }> {
  const home = await temporaryHome()
  const server = await startModelServer(script)
  await home.write('config.toml', `[llm]\nbase_url = "${server.url}"\nmodel = "scripted"\n`)
  return {
    ...home,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Reads the lines of the log, without their times. */
export async function readDaemonLog(
  home: TemporaryHome,
): Promise<{ level: string; message: string; pid: number }[]> {
  const text = await readFile(join(home.paths.logs, 'daemon.log'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
