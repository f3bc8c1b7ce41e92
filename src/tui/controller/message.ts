import { classifySender } from '../../core/base/sender-class.ts'
import {
  type DeepPartial,
  OnAsk,
  RetryPolicy,
  type StreamMsg,
  type TurnOptions,
} from '../../core/protocol/crabtalk.generated.ts'
import type { AttachedFile, ChatOptions, ChatPorts } from '../ports.ts'
import { toWireMode } from '../state/modes.ts'
import type { ChatState } from '../state/types.ts'

interface MessageContext {
  state: ChatState
  ports: Pick<ChatPorts, 'cwd' | 'env'>
  rules: ChatOptions['rules']
}

interface SentContent {
  content: string
  attachments: readonly AttachedFile[]
  /** The agent that answers in the place of the conversation's own. */
  guest?: string | undefined
}

/** Converts a message of the chat to its wire form. */
export function toStreamMsg(
  { content, attachments, guest }: SentContent,
  { state, ports, rules }: MessageContext,
): DeepPartial<StreamMsg> {
  const { agent, sender, settings, thinking } = state
  const own = classifySender(sender) === 'local' ? ports : { env: {} } // only turns of the local class may choose their working directory
  return {
    agent,
    sender,
    content,
    ...(guest !== undefined && { guest }),
    ...('cwd' in own && { cwd: own.cwd }),
    options: {
      mode: toWireMode(state),
      onAsk: OnAsk.PARK, // this window answers, or the next one after it is closed
      env: own.env,
      asksTrust: true,
      retryPolicy: RetryPolicy.PATIENT,
      ...(settings.compactAt > 0 && { compactAt: settings.compactAt }),
      attachments: [...attachments],
      allow: [...rules.allow],
      ask: [...rules.ask],
      deny: [...rules.deny],
      ...('cwd' in own && { roots: [...state.roots] }),
      ...(guest === undefined && toModelOptions(state)),
      ...(thinking && { thinking }),
    },
  }
}

/** Names the model and effort that the conversation does not store, or not yet. */
function toModelOptions({
  chosenModel,
  chosenEffort,
  choiceScope,
}: ChatState): Pick<DeepPartial<TurnOptions>, 'model' | 'effort' | 'keepModel'> {
  if (choiceScope === 'stored') return {}
  return {
    ...(chosenModel !== undefined && { model: chosenModel }),
    ...(chosenEffort !== undefined && { effort: chosenEffort }),
    ...(choiceScope === 'next-message' && { keepModel: true }),
  }
}

/** Files pasted from the clipboard, by the label that stands for each in a message, until they are sent. */
export class PastedFiles {
  readonly #files = new Map<string, AttachedFile>()
  #count = 0

  /** Stores a file and returns its label, which is never used twice. */
  add(file: AttachedFile): string {
    const label = `[Image ${++this.#count}]`
    this.#files.set(label, file)
    return label
  }

  /** Returns the files whose labels occur in a text. */
  in(text: string): AttachedFile[] {
    return [...this.#files].filter(([label]) => text.includes(label)).map(([, file]) => file)
  }

  /** Removes the files whose labels occur in a text that was sent. */
  sent(text: string): void {
    for (const label of this.#files.keys()) if (text.includes(label)) this.#files.delete(label)
  }
}
