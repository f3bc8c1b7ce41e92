import { once } from '../base/once.ts'
import type { ProcessHost } from './types.ts'

/** A host that is opened for the first program: most turns start none, and should not load what starts them. */
export function lazyProcessHost(open: () => Promise<ProcessHost>): ProcessHost {
  let opened: ProcessHost | undefined
  let hasLeft = false
  const host = once(async () => {
    opened = await open()
    if (hasLeft) opened.releaseAll()
    return opened
  })
  return {
    start: async (command) => (await host.get()).start(command),
    releaseAll() {
      hasLeft = true
      opened?.releaseAll()
    },
    async [Symbol.asyncDispose]() {
      await (await host.made)?.[Symbol.asyncDispose]()
    },
  }
}
