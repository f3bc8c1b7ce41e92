import { parseObject } from '../../core/base/json.ts'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { type AskClosedEvent, AskKind } from '../../core/protocol/crabtalk.generated.ts'
import { emptyAnswerText } from '../../core/questions/answer-kinds.ts'
import type { AskCard } from '../cards/types.ts'
import type { Block } from './types.ts'

/**
 * Returns the blocks worth keeping of a closed question: its answers, and permissions that last longer than
 * one call.
 */
export function toAnswerBlocks({ ask }: AskCard, { content }: Pick<AskClosedEvent, 'content'>): Block[] {
  const answers = parseObject(content) ?? {}
  return ask.questions.flatMap(({ question }) => {
    const answer = answers[question]
    if (answer === '' && ask.kind === AskKind.TRUST) {
      return [{ kind: 'answered', question, answer: emptyAnswerText(ask) } as const]
    }
    if (typeof answer !== 'string' || answer === '') return []
    if (!ask.permission) return [{ kind: 'answered', question, answer } as const]
    if (!LASTING.has(answer)) return [] // the call's own line says whether it was permitted
    return [{ kind: 'answered', question: ask.permission.rules.join(', '), answer } as const]
  })
}

const LASTING: ReadonlySet<string> = new Set([PERMISSION_ANSWERS.session, PERMISSION_ANSWERS.always])
