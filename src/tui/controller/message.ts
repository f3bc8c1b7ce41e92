import { classifySender } from '../../core/base/sender-class.ts'
import { type DeepPartial, OnAsk, type StreamMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { AttachedFile, ChatOptions, ChatPorts } from '../ports.ts'
import { WIRE_MODES } from '../state/modes.ts'
import type { ChatState } from '../state/types.ts'

interface MessageContext {
  state: ChatState
  ports: Pick<ChatPorts, 'cwd' | 'env'>
  rules: ChatOptions['rules']
}

/** A message of the chat as the agents take it. */
export function toStreamMsg(
  { content, attachments }: { content: string; attachments: readonly AttachedFile[] },
  { state, ports, rules }: MessageContext,
): DeepPartial<StreamMsg> {
  const { agent, sender, mode, chosenModel, thinking } = state
  const own = classifySender(sender) === 'local' ? ports : { env: {} } // only such turns may choose where they work
  return {
    agent,
    sender,
    content,
    ...('cwd' in own && { cwd: own.cwd }),
    options: {
      mode: WIRE_MODES[mode],
      onAsk: OnAsk.PARK, // the window answers, and the next one does when this one is closed
      env: own.env,
      asksTrust: true,
      attachments: [...attachments],
      allow: [...rules.allow],
      ask: [...rules.ask],
      deny: [...rules.deny],
      ...(chosenModel !== undefined && { model: chosenModel }),
      ...(thinking && { thinking }),
    },
  }
}
