import { isObject } from '../../core/base/json.ts'
import type { Question } from '../../core/runtime/asks.ts'
import { readField } from './field.ts'
import type { FieldValue, FormField } from './types.ts'

/** Reads the schema of a server's form; undefined when a person cannot be asked for what it requires. */
export function readForm(schema: unknown): FormField[] | undefined {
  const { properties, required } = isObject(schema) ? schema : {}
  if (!isObject(properties)) return properties === undefined ? [] : undefined
  const names = Object.keys(properties)
  if (names.length > MAX_FIELDS) return undefined
  const needed = new Set(Array.isArray(required) ? required : [])
  if ([...needed].some((name) => !names.includes(name))) return undefined
  const fields: FormField[] = []
  for (const name of names) {
    const field = name.length <= MAX_NAME ? readField(name, properties[name], needed.has(name)) : undefined
    if (field) fields.push(field)
    else if (needed.has(name)) return undefined
  }
  return fields
}

/** Fields as questions, no two of which are the same; `problems` say what was wrong with an answer before. */
export function toQuestions(
  fields: readonly FormField[],
  problems: ReadonlyMap<FormField, string>,
): Question[] {
  const taken = new Set<string>()
  return fields.map((field) => {
    const { title, about, options, multiSelect } = field
    const problem = problems.get(field)
    const lines = [...(problem === undefined ? [] : [`Not usable: ${problem}`]), title, about]
    let question = lines.filter(Boolean).join('\n')
    while (taken.has(question)) question += ' ′'
    taken.add(question)
    return { question, header: title, options, multiSelect }
  })
}

/** What was given so far. */
export interface FilledFields {
  content: Record<string, FieldValue>
  problems: Map<FormField, string>
}

/** Takes a person's answers, one for each field; what is left open is what the form presets, if it does. */
export function takeAnswers(fields: readonly FormField[], answers: readonly string[]): FilledFields {
  const problems = new Map<FormField, string>()
  const given: [string, FieldValue][] = []
  for (const [i, field] of fields.entries()) {
    const answer = answers[i] ?? ''
    if (answer.trim() === '') {
      if (field.preset !== undefined) given.push([field.name, field.preset])
      else if (field.isRequired) problems.set(field, 'an answer is required')
      continue
    }
    const reading = field.read(answer)
    if ('value' in reading) given.push([field.name, reading.value])
    else problems.set(field, reading.problem)
  }
  return { content: Object.fromEntries(given), problems }
}

const MAX_FIELDS = 30
const MAX_NAME = 200
