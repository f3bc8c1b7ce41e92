import { CrabError } from '../../core/base/errors.ts'
import { wireName } from '../../core/protocol/dispatch.ts'
import type { Operation } from '../../core/protocol/operations.ts'

/** The handler of an operation that the protocol has and this version has not: `unavailable`. */
export function notYet(operation: Operation): () => Promise<never> {
  return async () => {
    throw new CrabError(
      'unavailable',
      `Cannot serve ${wireName(operation)}: this version has no search and no memory tools`,
      {
        hint: 'list_conversations and list_archives show what there is',
      },
    )
  }
}
