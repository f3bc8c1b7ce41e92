import { type CompactionEvent, CompactionState } from './crabtalk.generated.ts'

/** Describes a step of an automatic compaction in one line. */
export function formatCompaction({ state, before, after, error }: CompactionEvent): string {
  switch (state) {
    case CompactionState.STARTED:
      return `compacting the conversation: about ${before} tokens`
    case CompactionState.DONE:
      return `compacted from about ${before} to ${after} tokens`
    default:
      return `could not compact the conversation: ${error}`
  }
}
