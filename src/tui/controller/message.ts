import { classifySender } from '../../core/base/sender-class.ts'
import {
  type DeepPartial,
  OnAsk,
  RetryPolicy,
  type StreamMsg,
  type TurnOptions,
} from '../../core/protocol/crabtalk.generated.ts'
import { type AttachedFile, type ChatOptions, type ChatPorts, CLIPBOARD_NAME } from '../ports.ts'
import { toWireMode } from '../state/modes.ts'
import type { ChatState } from '../state/types.ts'
import type { ServerTurnOptions } from './session-servers.ts'

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
  /** The MCP servers of the turn. */
  servers?: ServerTurnOptions
}

/** Converts a message of the chat to its wire form. */
export function toStreamMsg(
  { content, attachments, guest, servers = {} }: SentContent,
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
      ...servers,
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

  /**
   * Makes the files of a sent message part of the next one, and returns its text with a label for each, if
   * possible the one that it had. A file that the text names with `@` is added when the text is sent.
   */
  putBack(text: string, files: readonly AttachedFile[]): string {
    const shown = [...new Set(text.match(LABEL) ?? [])].toSorted((a, b) => toNumber(a) - toNumber(b))
    const labels = new Map<string, string>()
    const added: string[] = []
    for (const file of files) {
      if (file.name !== CLIPBOARD_NAME && isNamedIn(text, file)) continue
      const before = file.name === CLIPBOARD_NAME ? shown.shift() : undefined
      if (before === undefined) added.push(this.add(file))
      else labels.set(before, this.#addAs(before, file))
    }
    const sent = text.replace(LABEL, (label) => labels.get(label) ?? label)
    return [sent, ...added].filter(Boolean).join(' ')
  }

  #addAs(label: string, file: AttachedFile): string {
    if (this.#files.has(label)) return this.add(file)
    this.#files.set(label, file)
    this.#count = Math.max(this.#count, toNumber(label))
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

const LABEL = /\[Image \d+\]/g

function toNumber(label: string): number {
  return Number(/\d+/.exec(label)?.[0])
}

/** Whether a text names a file with `@`, or a resource of an MCP server, whose files have other names. */
function isNamedIn(text: string, { name }: AttachedFile): boolean {
  if (/(?<=^|\s)@[a-z0-9][a-z0-9_-]{0,31}:\S/.test(text)) return true
  return text.includes('@') && name !== '' && text.includes(name)
}
