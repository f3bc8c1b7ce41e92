import { homedir } from 'node:os'
import { homePaths } from '../core/config/paths.ts'
import { type Dispatch, route } from '../core/protocol/dispatch.ts'
import { compose } from './compose.ts'
import { handlers } from './handlers/handlers.ts'

/** A way to the runtime of this home directory; disposing lets go of it. */
export interface Attached extends AsyncDisposable {
  readonly dispatch: Dispatch
}

/** Who attaches. */
export interface Caller {
  readonly env: Readonly<Record<string, string | undefined>>
  cwd(): string
}

/** A runtime inside this process (decision 15); the caller cannot tell it from a daemon's. */
export async function attach(caller: Caller): Promise<Attached> {
  const cwd = caller.cwd()
  const paths = homePaths(caller.env, { cwd, homeDir: homedir() })
  const services = compose({ paths, env: caller.env, cwd })
  return {
    dispatch: route(handlers(services)),
    [Symbol.asyncDispose]: () => services[Symbol.asyncDispose](),
  }
}
