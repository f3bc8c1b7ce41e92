import { CrabError } from '../base/errors.ts'
import type { JsonObject } from '../base/message.ts'

/**
 * What is wrong with an answer that must be JSON of a schema (draft 2020-12); undefined when nothing is.
 *
 * The sentence is meant for the model as well as for a person. Throws `invalid` for a schema that cannot be used.
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

/** The JSON in an answer, with or without the code fence models like to put around it; undefined when there is none. */
export function parseAnswer(answer: string): unknown {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(answer)
  try {
    return JSON.parse(fenced?.[1] ?? answer)
  } catch {
    return undefined // not JSON is an answer, not a failure
  }
}

/** Asks the model to mend its answer. */
export function repairRequest(problem: string): string {
  return `Your answer does not meet the required JSON schema: ${problem}. Answer again with JSON only.`
}

/** The failure of a turn whose mended answer does not meet the schema either. */
export function notMet(problem: string): CrabError {
  return new CrabError('schema', `Cannot give an answer that meets the schema: ${problem}`, {
    hint: 'loosen the schema, or name a model that supports structured output',
  })
}
