import { join } from 'node:path'
import type { CheckpointPlace } from '../search/checkpoint/types.ts'
import { TERMS_VERSION } from '../search/terms/terms-version.ts'

/** Where the checkpoints of the index of sessions are, below the folder of what can be rebuilt. */
export function indexPlace(index: string): CheckpointPlace {
  return { folder: join(index, 'search'), maker: `sessions 2 terms ${TERMS_VERSION}` }
}
