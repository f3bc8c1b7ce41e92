import { join } from 'node:path'
import type { CheckpointPlace } from '../search/checkpoint/types.ts'
import { TERMS_VERSION } from '../search/terms/terms-version.ts'

/** Returns the location of the session index's checkpoints below the folder of rebuildable data. */
export function indexPlace(index: string): CheckpointPlace {
  return { folder: join(index, 'search'), maker: `sessions 2 terms ${TERMS_VERSION}` }
}
