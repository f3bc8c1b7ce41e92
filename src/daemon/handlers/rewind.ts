import type { Attachment as StoredAttachment } from '../../core/base/message.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { readTypedMessage } from '../../core/base/typed-message.ts'
import type { ChangedFile } from '../../core/hooks/files/undo/changes.ts'
import { UndoTurns } from '../../core/hooks/files/undo/turns.ts'
import { ownPaths } from '../../core/hooks/protected-paths.ts'
import {
  type Attachment,
  type DiffSession,
  FileChange,
  type FileDiff,
  type Rewind,
  type RewindResult,
  type SessionDiff,
  type SessionInfo,
  type UndoCompaction,
} from '../../core/protocol/crabtalk.generated.ts'
import { listRewindTargets, rewindSession, undoCompaction } from '../../core/runtime/rewind.ts'
import { sessionMeta } from '../../core/runtime/session-pages.ts'
import { untrackedCalls } from '../../core/runtime/untracked-calls.ts'
import { toPair } from '../../core/storage/session-digest.ts'
import type { Services } from '../services.ts'
import { getSession } from './conversations.ts'
import { resolveSessionAgent } from './sessions.ts'
import { takeFitting } from './take-fitting.ts'
import { toUndoneFileInfo } from './undo.ts'

type Needs = Pick<Services, 'node' | 'agents' | 'stores' | 'running' | 'journals'>

/** Handles `rewind`: goes back to an earlier message, or lists the messages to go back to. */
export async function handleRewind(
  services: Needs,
  { session, to, files, keepMessages, dryRun }: Rewind,
  signal: AbortSignal,
): Promise<RewindResult> {
  const undo = openUndoTurns(services)
  if (to === 0) {
    const { lines } = await services.stores.storage.read(session)
    const points = await listRewindTargets(lines, { session, undo })
    const shown = points.map((point) => ({
      ...point,
      content: takeStart(readTypedMessage(point.content).text, MAX_POINT_CHARS),
    }))
    return {
      files: [],
      messages: 0,
      content: '',
      attachments: [],
      points: takeFitting(shown, ({ content }) => 100 + content.length),
    }
  }
  const agent = await resolveSessionAgent(
    services.agents,
    (await sessionMeta(services.stores.storage, session)).summary,
  )
  const plan = { session, agent, to, files, keepMessages, dryRun, undo }
  const rewound = await rewindSession(services, plan, signal)
  if (!dryRun) await announceChange(services, session)
  const attachments = dryRun || keepMessages ? [] : rewound.attachments.map(toWireAttachment)
  return {
    ...rewound,
    files: rewound.files.map(toUndoneFileInfo),
    attachments: takeFitting(attachments, ({ data }) => data.length, MAX_ATTACHED_BYTES),
    points: [],
  }
}

function toWireAttachment({ media_type: mediaType, data, name = '' }: StoredAttachment): Attachment {
  return { mediaType, name, data: Buffer.from(data, 'base64') }
}

/** The most bytes of attachments in a reply, which must fit a frame with the text of the message. */
const MAX_ATTACHED_BYTES = 12 * 1024 * 1024

/** The longest text of a message in a list, in UTF-16 units. */
const MAX_POINT_CHARS = 300

/** Handles `undo_compaction`. */
export async function handleUndoCompaction(
  services: Needs,
  { session }: UndoCompaction,
  signal: AbortSignal,
): Promise<SessionInfo> {
  const { storage } = services.stores
  const agent = await resolveSessionAgent(services.agents, (await sessionMeta(storage, session)).summary)
  await undoCompaction(services, { session, agent }, signal)
  await announceChange(services, session)
  return await getSession(storage, session)
}

/** Handles `session_diff`: compares the files that a session changed with what they were before. */
export async function handleSessionDiff(
  services: Pick<Services, 'node' | 'stores'>,
  { session, stat }: DiffSession,
  signal: AbortSignal,
): Promise<SessionDiff> {
  const { lines } = await services.stores.storage.read(session)
  const files: FileDiff[] = []
  let chars = 0
  for await (const file of openUndoTurns(services).changes(session, signal)) {
    const isOmitted = chars + file.diff.length > MAX_DIFF_CHARS
    files.push(toFileDiff(isOmitted ? { ...file, diff: '', reason: TOO_MUCH } : file, stat))
    if (!isOmitted) chars += file.diff.length
  }
  return { files, untracked: untrackedCalls(lines, MAX_UNTRACKED) }
}

/** The most UTF-16 units of all diffs of a reply, which must fit a frame. */
const MAX_DIFF_CHARS = 2 * 1024 * 1024
const TOO_MUCH = 'the diffs of all files are too long to show'
const MAX_UNTRACKED = 50

function toFileDiff({ change, diff, ...file }: ChangedFile, isStat: boolean): FileDiff {
  return { ...file, change: CHANGES[change], diff: isStat ? '' : diff }
}

const CHANGES: Record<ChangedFile['change'], FileChange> = {
  created: FileChange.CREATED,
  modified: FileChange.MODIFIED,
  deleted: FileChange.DELETED,
  none: FileChange.NONE,
}

function openUndoTurns({ node, stores }: Pick<Services, 'node' | 'stores'>): UndoTurns {
  return new UndoTurns({
    folder: node.paths.undo,
    closed: ownPaths(node.paths),
    lock: (resource, signal) => stores.leases.take(resource, signal),
  })
}

/** Notifies the followers of a session's pair that it changed. */
async function announceChange({ stores, journals }: Pick<Services, 'stores' | 'journals'>, session: string) {
  const { header } = await stores.storage.read(session, stores.cache.get(session)?.cursor)
  journals.changed(toPair(header))
}
