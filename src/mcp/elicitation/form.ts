import { isObject } from '../../core/base/json.ts'
import type { Question } from '../../core/runtime/asks.ts'
import { readField } from './field.ts'
import type { FieldValue, FormField } from './types.ts'

/**
 * Reads the schema of a server's form; undefined when a user cannot be asked for one of its required fields.
 */
export function readForm(schema: unknown): FormField[] | undefined {
  const { properties, required } = isObject(schema) ? schema : {}
  if (!isObject(properties)) return properties === undefined ? [] : undefined
  const names = Object.keys(properties)
  if (names.length > MAX_FIELDS) return undefined
  const requiredNames = new Set(Array.isArray(required) ? required : [])
  if ([...requiredNames].some((name) => !names.includes(name))) return undefined
  const fields: FormField[] = []
  for (const name of names) {
    const field =
      name.length <= MAX_NAME ? readField(name, properties[name], requiredNames.has(name)) : undefined
    if (field) fields.push(field)
    else if (requiredNames.has(name)) return undefined
  }
  return fields
}

/** Converts fields to questions that all differ; `problems` says what was wrong with previous answers. */
export function toQuestions(
  fields: readonly FormField[],
  problems: ReadonlyMap<FormField, string>,
): Question[] {
  const usedQuestions = new Set<string>()
  return fields.map((field) => {
    const { title, about, options, multiSelect } = field
    const problem = problems.get(field)
    const lines = [...(problem === undefined ? [] : [`Invalid: ${problem}`]), title, about]
    let question = lines.filter(Boolean).join('\n')
    while (usedQuestions.has(question)) question += ' ′'
    usedQuestions.add(question)
    return { question, header: title, options, multiSelect }
  })
}

/** The values entered so far, and the fields with unusable answers. */
export interface FilledFields {
  content: Record<string, FieldValue>
  problems: Map<FormField, string>
}

/**
 * Reads the user's answers, one for each field; an empty answer takes the default of the form, if there is
 * one.
 */
export function takeAnswers(fields: readonly FormField[], answers: readonly string[]): FilledFields {
  const problems = new Map<FormField, string>()
  const values: [string, FieldValue][] = []
  for (const [i, field] of fields.entries()) {
    const answer = answers[i] ?? ''
    if (answer.trim() === '') {
      if (field.preset !== undefined) values.push([field.name, field.preset])
      else if (field.isRequired) problems.set(field, 'an answer is required')
      continue
    }
    const reading = field.read(answer)
    if ('value' in reading) values.push([field.name, reading.value])
    else problems.set(field, reading.problem)
  }
  return { content: Object.fromEntries(values), problems }
}

const MAX_FIELDS = 30
const MAX_NAME = 200
