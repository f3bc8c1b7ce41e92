import { CrabError } from '../base/errors.ts'
import { parseAnswer } from '../base/json.ts'
import type { JsonObject } from '../base/message.ts'

/**
 * Validates an answer that must be JSON of a schema (draft 2020-12); returns the problem, or undefined for a
 * valid answer.
 *
 * The sentence is meant for both the model and a person. Throws `invalid` for an unusable schema.
 */
export async function schemaProblem(answer: string, schema: JsonObject): Promise<string | undefined> {
  const value = parseAnswer(answer)
  if (value === undefined) return 'the answer is not JSON'
  const { Validator } = await import('@cfworker/json-schema')
  try {
    const { valid, errors } = new Validator(schema, '2020-12', false).validate(value)
    if (valid) return undefined
    const leaf = errors.at(-1)
    return leaf ? `${leaf.instanceLocation}: ${leaf.error}` : 'the answer does not meet the schema'
  } catch (cause) {
    throw new CrabError('invalid', `Cannot use the schema: ${(cause as Error).message}`, { cause })
  }
}

/** The message that asks the model to repair its answer. */
export function repairRequest(problem: string): string {
  return `Your answer does not meet the required JSON schema: ${problem}. Answer again with JSON only.`
}

/** The `schema` error of a turn whose repaired answer does not match the schema either. */
export function notMet(problem: string): CrabError {
  return new CrabError('schema', `Cannot give an answer that meets the schema: ${problem}`, {
    hint: 'loosen the schema, or name a model that supports structured output',
  })
}
