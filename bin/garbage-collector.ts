import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { GarbageCollector } from '../src/core/base/garbage-collector.ts'

/** The size of new objects, in bytes, that is worth a collection: fewer survive each, and each costs little. */
const YOUNG_BYTES = 3e6

type Collect = (options: { type: 'minor' } | { type: 'major'; flavor: 'last-resort' }) => void

/** Opens the garbage collector of this process. */
export function openGarbageCollector(): GarbageCollector {
  const collect = findCollect()
  let survivors = 0
  return {
    collectAll() {
      collect({ type: 'major', flavor: 'last-resort' })
      survivors = readYoungBytes()
    },
    collectYoung() {
      const bytes = readYoungBytes()
      survivors = Math.min(survivors, bytes) // V8 may have collected, too
      if (bytes - survivors < YOUNG_BYTES) return
      collect({ type: 'minor' })
      survivors = readYoungBytes()
    },
  }
}

/**
 * Returns the function that V8 gives to new contexts while `--expose-gc` is set. The flag is unset immediately, because
 * V8 rejects all code caches, ours and Node's own, that were made under other flags.
 */
function findCollect(): Collect {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc') as Collect
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

function readYoungBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_used_size ?? 0
}
