import type { Log } from '../../base/log.ts'
import { loadCheckpoint, saveCheckpoint } from '../../search/checkpoint/checkpoint.ts'
import { mergeSegments } from '../../search/merge.ts'
import { sealTail } from '../../search/seal.ts'
import { readBatches } from './read-batches.ts'
import type { BackgroundJobs } from './types.ts'

/** Runs the jobs in the calling thread. The worker uses it in its own thread. */
export function inlineJobs({ log }: { log: Log }): BackgroundJobs {
  return {
    seal: async (tail) => sealTail(tail),
    merge: async (job) => mergeSegments(job),
    save: saveCheckpoint,
    load: (location) => loadCheckpoint(location, log),
    readFiles: readBatches,
  }
}
