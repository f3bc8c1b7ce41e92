import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogLevel } from '../../../src/core/base/log.ts'
import { type ComponentContext, serveTools } from '../../../src/mcp/component/serve-component.ts'
import type { Component, ComponentTool } from '../../../src/mcp/component/types.ts'
import { type TemporaryHome, temporaryHome } from '../temporary-home.ts'

/** A component that serves in this process. Disposing ends it. */
export interface ServedComponent extends AsyncDisposable {
  readonly port: number
  readonly key: string
  /** The URL of `/mcp`. */
  readonly url: URL
  readonly logged: readonly string[]
  /** Asks it to end. */
  end(): void
  /** Settles when it has ended. */
  readonly ended: Promise<void>
}

/** Creates a home. */
export async function madeHome(): Promise<TemporaryHome> {
  const home = await temporaryHome()
  await mkdir(home.paths.home, { mode: 0o700 })
  return home
}

/** Serves in a home that exists. Throws like serveTools(). */
export async function startServed(
  { paths }: TemporaryHome,
  tools: readonly ComponentTool[] = [],
  options: Partial<ComponentContext> & Partial<Pick<Component, 'name'>> = {},
): Promise<ServedComponent> {
  const { name = 'dice', ...rest } = options
  const over = new AbortController()
  const logged: string[] = []
  const log = (level: LogLevel, message: string) => void logged.push(`${level} ${message}`)
  const serving = Promise.withResolvers<number>()
  const place = {
    home: paths.home,
    run: paths.run,
    pid: 4321,
    now: Date.now,
    log,
    onServing: serving.resolve,
    ...rest,
  }
  const component = { name, version: '1.2.3', description: 'Throws dice', tools }
  const ended = serveTools(component, place, over.signal)
  ended.catch(serving.reject)
  const port = await serving.promise
  const key = (await readFile(join(paths.run, `${name}.key`), 'utf8')).trim()
  return {
    port,
    key,
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    logged,
    end: () => over.abort(),
    ended,
    async [Symbol.asyncDispose]() {
      over.abort()
      await ended.catch(() => undefined) // the test has checked it
    },
  }
}
