import { UndoTurns } from '../../core/hooks/files/undo/turns.ts'
import { ownPaths } from '../../core/hooks/protected-paths.ts'
import { completePair } from '../../core/policy/client-senders.ts'
import {
  type Undo,
  type UndoneFile as UndoneFileInfo,
  UndoOutcome,
  type UndoResult,
} from '../../core/protocol/crabtalk.generated.ts'
import { type FileUndoResult, undoLastTurn } from '../../core/runtime/undo.ts'
import type { UndoneFile } from '../../core/storage/types.ts'
import type { Services } from '../services.ts'

/**
 * Handles `undo`: reverts the file changes of a pair's last turn; returns an empty result when there is
 * nothing to revert.
 */
export async function handleUndo(
  services: Pick<Services, 'node' | 'agents' | 'stores' | 'running' | 'journals'>,
  { dryRun, ...message }: Undo,
  signal: AbortSignal,
): Promise<UndoResult> {
  const { agents, stores, node } = services
  const { agent, sender } = completePair('local', message)
  const { id: agentId, name } = await agents.get(agent, { create: false })
  const session = await stores.storage.activeSession({ agentId, sender })
  if (session === undefined) return NOTHING
  const turns = new UndoTurns({
    folder: node.paths.undo,
    closed: ownPaths(node.paths),
    lock: (resource, either) => stores.leases.take(resource, either),
  })
  const undone = await undoLastTurn(services, { session, agent: name, dryRun, turns }, signal)
  if (!undone) return NOTHING
  return { runId: undone.run, files: undone.files.map(toUndoneFileInfo) }
}

/** Converts the result of undoing the changes of a file to its wire form. */
export function toUndoneFileInfo({ path, outcome, reason }: FileUndoResult): UndoneFileInfo {
  return { path, outcome: OUTCOMES[outcome], reason }
}

const NOTHING: UndoResult = { runId: '', files: [] }

const OUTCOMES: Record<UndoneFile['outcome'], UndoOutcome> = {
  restored: UndoOutcome.RESTORED,
  removed: UndoOutcome.REMOVED,
  kept: UndoOutcome.KEPT,
}
