import type { ModelInfo, StreamEvent } from '../../core/protocol/crabtalk.generated.ts'
import type { AskCard } from '../cards/types.ts'
import type { Overlay } from '../overlays/types.ts'
import type { AttachedFile, ModeName } from '../ports.ts'
import type { Prompt } from '../text/prompt.ts'
import type { Block, Queued } from './types.ts'

/** Something that happened; the only way the state changes. */
export type Action =
  | { type: 'stream'; event: StreamEvent; now: number }
  /** A message goes out; its block is printed. */
  | { type: 'turn-begun'; text: string; files: readonly string[]; now: number }
  /** The stream ended without an `end`, or could not begin. */
  | { type: 'turn-failed'; message: string; hint?: string | undefined }
  | { type: 'turn-over' }
  | { type: 'cancelling' }
  | { type: 'steered'; text: string }
  /** A steer that found no turn any more. */
  | { type: 'steer-failed'; text: string }
  | { type: 'queued'; message: Queued }
  | { type: 'unqueued' }
  /** Everything queued goes back into the prompt. */
  | { type: 'queue-taken-back' }
  /** Closes what can be closed of the open text; sent before a frame is drawn. */
  | { type: 'flush' }
  | { type: 'printed'; upto: number }
  | { type: 'print'; block: Block }
  | { type: 'prompt'; prompt: Prompt }
  | { type: 'ask-card'; card: AskCard }
  | { type: 'ask-gone'; askId: string }
  | { type: 'overlay'; overlay: Overlay | undefined }
  | { type: 'mode'; mode: ModeName }
  | { type: 'thinking'; on: boolean }
  | { type: 'details'; on: boolean }
  | { type: 'model'; model: string | undefined }
  | { type: 'models'; models: readonly ModelInfo[] }
  | { type: 'branch'; branch: string | undefined }
  | { type: 'title'; title: string }
  /** The chat is now about another conversation. */
  | { type: 'conversation'; agent: string; sender: string; session: string | undefined; title: string }
  | { type: 'attached'; file: AttachedFile }
  | { type: 'hint'; text: string }
