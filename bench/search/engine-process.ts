import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Found } from './engine.ts'
import type { Appended, Built, Request, Searched } from './engine-main.ts'

/** The answer to each kind of request. */
interface Answers {
  build: Built
  append: Appended
  search: Searched
  save: { mb: number; ms: number }
  load: { ms: number }
  truth: Found[][]
}

/** An engine in a process of its own. */
export interface EngineProcess extends AsyncDisposable {
  name: string
  ask<R extends Request>(request: R): Promise<Answers[R['do']]>
}

/** Starts an engine; it keeps its files in a folder below `scratch`. */
export function startEngine(name: string, scratch: string): EngineProcess {
  const folder = join(scratch, name.replaceAll(' ', '-').toLowerCase())
  mkdirSync(folder, { recursive: true })
  const child = fork(join(import.meta.dirname, 'engine-main.ts'), [name, folder], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc', '--max-old-space-size=8192'],
    serialization: 'advanced',
  })
  const exited = once(child, 'exit')
  return {
    name,
    async ask(request) {
      const answered = once(child, 'message')
      child.send(request)
      const [answer] = await Promise.race([answered, exited.then(() => failed(name))])
      return answer
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await exited
    },
  }
}

function failed(name: string): never {
  throw new Error(`Cannot measure ${name}: its process ended`)
}
