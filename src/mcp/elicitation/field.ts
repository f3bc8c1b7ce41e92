import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { Question } from '../../core/runtime/asks.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import { enumField } from './enum-field.ts'
import { numberReader, textReader } from './scalar.ts'
import type { FieldKind, FieldResult, FieldValue, FormField } from './types.ts'

/**
 * Reads one property of a form's schema (MCP 2025-11-25, PrimitiveSchemaDefinition); undefined when it is
 * invalid.
 */
export function readField(name: string, schema: unknown, isRequired: boolean): FormField | undefined {
  if (!isObject(schema)) return undefined
  const kind = readFieldKind(schema)
  if (!kind) return undefined
  const { title, description } = schema
  const preset = readPreset(schema['default'], kind)
  const notes = [kind.takes, isRequired ? '' : 'optional', presetNote(preset)].filter(Boolean)
  const words = typeof description === 'string' ? toPrintableLine(description) : ''
  return {
    name,
    title: takeStart(toPrintableLine(typeof title === 'string' && title !== '' ? title : name), MAX_TITLE),
    about: [words, notes.join('; ')].filter(Boolean).join('\n'),
    options: kind.options,
    multiSelect: kind.multiSelect,
    isRequired,
    preset,
    read: kind.read,
  }
}

function readFieldKind(schema: JsonObject): FieldKind | undefined {
  const enumKind = enumField(schema)
  if (enumKind) return enumKind
  const plain = { options: [], multiSelect: false }
  switch (schema['type']) {
    case 'string':
      return { ...plain, ...textReader(schema) }
    case 'number':
    case 'integer':
      return { ...plain, ...numberReader(schema) }
    case 'boolean':
      return { ...plain, options: YES_NO, takes: '', read: readYesNo }
  }
  return undefined
}

const YES_NO: Question['options'] = [
  { label: 'Yes', description: '' },
  { label: 'No', description: '' },
]

function readYesNo(answer: string): FieldResult {
  const word = answer.trim().toLowerCase()
  if (word === 'yes' || word === 'no') return { value: word === 'yes' }
  return { problem: 'answer Yes or No' }
}

/** Reads the default of a field, which is ignored unless the user could have entered it. */
function readPreset(value: unknown, { read, options }: FieldKind): FieldValue | undefined {
  if (typeof value === 'boolean') return options === YES_NO ? value : undefined
  if (options !== YES_NO && options.length > 0) {
    const values = Array.isArray(value) ? value.map(String) : [String(value)]
    const reading = read(values.join(', '))
    return 'value' in reading ? reading.value : undefined
  }
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const reading = read(String(value))
  return 'value' in reading ? reading.value : undefined
}

function presetNote(preset: FieldValue | undefined): string {
  if (preset === undefined) return ''
  const text = typeof preset === 'boolean' ? (preset ? 'Yes' : 'No') : String(preset)
  return `if left empty, it is ${takeStart(toPrintableLine(text), 80)}`
}

const MAX_TITLE = 60
