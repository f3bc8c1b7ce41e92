import * as z from 'zod/mini'
import { toDotPath } from 'zod/v4/core'
import { CrabError } from '../base/errors.ts'
import { UNANSWERED_RESULTS } from '../base/not-run.ts'
import type { ToolSpec } from '../provider/types.ts'
import type { Question } from '../runtime/asks.ts'
import type { Hook, ToolDispatch, ToolGroup, ToolOutput } from '../runtime/hook.ts'

/**
 * Provides the tool `ask_user`: one to four questions for the user, answered as JSON from question to answer.
 * It needs no permission.
 */
export function askUserHook(): Hook {
  return {
    schema: () => [SPEC],
    groups: () => [GROUP],
    dispatch: (name, call) => (name === SPEC.name ? askUser(call) : undefined),
  }
}

const STRING = { type: 'string' }

const GROUP: ToolGroup = {
  id: 'ask',
  title: 'Questions',
  description: 'Ask the person this is done for',
  tools: ['ask_user'],
}

/** Terse, because it is sent with every request. */
const SPEC: ToolSpec = {
  name: 'ask_user',
  description: 'Ask the user 1 to 4 questions',
  parameters: {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            question: STRING,
            header: STRING,
            options: {
              type: 'array',
              items: { type: 'object', properties: { label: STRING, description: STRING } },
            },
            multi: { type: 'boolean' },
          },
        },
      },
    },
  },
  readOnly: true,
}

async function askUser({ args, ask }: ToolDispatch): Promise<ToolOutput> {
  try {
    const answers = await ask(readQuestions(args), 'question')
    const isDeclined = Object.values(answers).every((answer) => answer === '')
    return isDeclined
      ? fail(UNANSWERED_RESULTS.declined)
      : { output: JSON.stringify(answers), isError: false }
  } catch (reason) {
    const advice = reason instanceof CrabError ? ADVICE.get(reason.kind) : undefined
    if (advice === undefined) throw reason
    return fail(advice)
  }
}

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['denied', UNANSWERED_RESULTS.denied],
  ['timeout', UNANSWERED_RESULTS.timeout],
])

function fail(output: string): ToolOutput {
  return { output, isError: true }
}

/**
 * Parses the questions of a call. Models leave out optional fields, and may write an option as a plain
 * string. Throws `invalid`.
 */
function readQuestions(args: Record<string, unknown>): Question[] {
  const parsed = shape().safeParse(args)
  if (!parsed.success) {
    const place = toDotPath(parsed.error.issues[0]!.path)
    throw new CrabError('invalid', `Cannot ask: ${place} is missing or not of this shape: ${SHAPE}`)
  }
  const questions = parsed.data.questions.map(({ question, header, options, multi }) => {
    return {
      question,
      header: header ?? '',
      options: (options ?? []).map(toOption),
      multiSelect: multi ?? false,
    }
  })
  if (new Set(questions.map(({ question }) => question)).size === questions.length) return questions
  throw new CrabError('invalid', 'Cannot ask: two of the questions are the same')
}

/** The expected shape, as the model is shown it. */
const SHAPE =
  '{"questions":[{"question":"…","options":[{"label":"…","description":"…"}]}]}, 1 to 4 questions, options if there are any'

type Option = string | { label: string; description?: string | null | undefined }

function toOption(option: Option): Question['options'][number] {
  return typeof option === 'string'
    ? { label: option, description: '' }
    : { label: option.label, description: option.description ?? '' }
}

function shape() {
  const text = z.string().check(z.minLength(1))
  const option = z.union([text, z.object({ label: text, description: z.nullish(z.string()) })])
  const question = z.object({
    question: text,
    header: z.nullish(z.string()),
    options: z.nullish(z.array(option)),
    multi: z.nullish(z.boolean()),
  })
  return z.object({ questions: z.array(question).check(z.minLength(1), z.maxLength(4)) })
}
