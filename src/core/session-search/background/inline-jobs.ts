import type { Log } from '../../base/log.ts'
import { loadCheckpoint, saveCheckpoint } from '../../search/checkpoint/checkpoint.ts'
import { mergeSegments } from '../../search/merge.ts'
import { sealTail } from '../../search/seal.ts'
import { readBatches } from './read-batches.ts'
import type { BackgroundJobs } from './types.ts'

/** The jobs, done in the thread that asks; the worker does them so in its own. */
export function inlineJobs({ log }: { log: Log }): BackgroundJobs {
  return {
    seal: async (tail) => sealTail(tail),
    merge: async (job) => mergeSegments(job),
    save: saveCheckpoint,
    load: (place) => loadCheckpoint(place, log),
    readFiles: readBatches,
  }
}
