import * as z from 'zod/mini'
import type { Host } from '../../cli/host.ts'
import { readLines } from '../../cli/read-lines.ts'
import { toErrorObject } from '../../cli/turn/record.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { toShownJson } from '../../core/base/json.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { fetchAsks } from './asks.ts'
import { findAsk, type WaitingAsk } from './find.ts'
import { readAnswers } from './read-answer.ts'
import { sendReply } from './reply.ts'

/**
 * A line of input: a text as on the command line, a list of texts for several questions, or an object from
 * question to label.
 */
const AnswerLine = z.strictObject({
  id: z.string().check(z.minLength(1)),
  answer: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.string())]),
})

/**
 * Answers questions from standard input, one JSON object per line; each line is acknowledged or refused with
 * a JSON object, and a refusal does not stop the rest.
 *
 * Returns 0 when all answers were accepted, else 1. Throws `usage` where a person would have to type JSON.
 */
export async function answerFromLines(
  at: { host: Host; dispatch: Dispatch },
  signal: AbortSignal,
): Promise<number> {
  const { host } = at
  checkInput(host)
  let exit = 0
  for await (const line of readLines(host.stdin())) {
    if (line.trim() === '') continue
    const outcome = await answerLine(line, at, signal)
    if (!outcome.ok) exit = 1
    await host.stdout.write(`${toShownJson(outcome)}\n`)
  }
  return exit
}

/** Throws `usage` where no program writes lines to standard input. */
export function checkInput(host: Host): void {
  if (host.stdinKind() !== 'terminal' && host.stdinKind() !== 'none') return
  throw new CrabError('usage', 'Cannot answer: no question is given', {
    hint: 'crabtalk answer ID ANSWER; crabtalk asks lists the pending questions',
  })
}

async function answerLine(
  line: string,
  { host, dispatch }: { host: Host; dispatch: Dispatch },
  signal: AbortSignal,
) {
  let id: string | null = null
  try {
    const record = readLine(line)
    id = record.id
    const info = findAsk(await fetchAsks(dispatch, '', signal), id)
    id = info.ask.askId
    await sendReply(dispatch, { info, answers: toAnswers(record.answer, info), host }, signal)
    return { id, ok: true, error: null }
  } catch (reason) {
    signal.throwIfAborted()
    return { id, ok: false, error: toErrorObject(toCrabError(reason)) }
  }
}

function readLine(line: string): z.infer<typeof AnswerLine> {
  const hint = 'write {"id":"…","answer":"…"}, one per line'
  try {
    const parsed = AnswerLine.safeParse(JSON.parse(line))
    if (parsed.success) return parsed.data
    const [problem] = parsed.error.issues
    throw new CrabError('invalid', `Cannot use the line: ${problem?.path.join('.')}: ${problem?.message}`, {
      hint,
    })
  } catch (cause) {
    if (cause instanceof CrabError) throw cause
    throw new CrabError('invalid', `Cannot read the line: ${(cause as Error).message}`, { cause, hint })
  }
}

function toAnswers(answer: z.infer<typeof AnswerLine>['answer'], { ask }: WaitingAsk): unknown {
  if (typeof answer === 'string') return readAnswers([answer], ask)
  return Array.isArray(answer) ? readAnswers(answer, ask) : answer
}
