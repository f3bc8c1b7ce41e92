import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The declarations of proto/crabtalk.proto, as its compiler understands them. */
export interface Proto {
  messages: Map<string, ProtoMessage>
  /** Numbers by the name of the value. */
  enums: Map<string, Map<string, number>>
}

export interface ProtoMessage {
  fields: ProtoField[]
  reservedNumbers: number[]
  reservedNames: string[]
}

export interface ProtoField {
  name: string
  /** The name in generated code. */
  camelName: string
  number: number
  /**
   * The type in the notation of wire-messages.txt: `string`, `optional uint32`, `repeated AgentInfo`,
   * `map<string, string>`.
   */
  type: string
  oneof: string | undefined
}

interface Descriptor {
  file: { messageType: MessageDescriptor[]; enumType: EnumDescriptor[] }[]
}

interface MessageDescriptor {
  name: string
  field?: FieldDescriptor[]
  nestedType?: MessageDescriptor[]
  oneofDecl?: { name: string }[]
  reservedRange?: { start: number; end: number }[]
  reservedName?: string[]
}

interface FieldDescriptor {
  name: string
  jsonName: string
  number: number
  label: string
  type: string
  typeName?: string
  oneofIndex?: number
  proto3Optional?: boolean
}

interface EnumDescriptor {
  name: string
  value: { name: string; number?: number }[]
}

/** Compiles the proto file. */
export function readProto(): Proto {
  const root = join(import.meta.dirname, '../..')
  const buf = join(root, 'node_modules/@bufbuild/buf/bin/buf')
  const json = execFileSync(
    process.execPath,
    [buf, 'build', '--exclude-source-info', '-o', '-#format=json'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    },
  )
  const [file] = (JSON.parse(json) as Descriptor).file
  return {
    messages: new Map(file!.messageType.map((message) => [message.name, toMessage(message)])),
    enums: new Map(file!.enumType.map(({ name, value }) => [name, toValues(value)])),
  }
}

function toMessage(message: MessageDescriptor): ProtoMessage {
  return {
    fields: (message.field ?? []).map((field) => ({
      name: field.name,
      camelName: field.jsonName,
      number: field.number,
      type: toType(field, message),
      oneof: field.proto3Optional ? undefined : message.oneofDecl?.[field.oneofIndex ?? -1]?.name,
    })),
    reservedNumbers: (message.reservedRange ?? []).flatMap(({ start, end }) =>
      Array.from({ length: end - start }, (_, index) => start + index),
    ),
    reservedNames: message.reservedName ?? [],
  }
}

function toType(field: FieldDescriptor, parent: MessageDescriptor): string {
  const name = field.typeName?.split('.').at(-1) ?? field.type.replace('TYPE_', '').toLowerCase()
  const entry = parent.nestedType?.find((nested) => nested.name === name)
  if (entry !== undefined)
    return `map<${toMessage(entry)
      .fields.map(({ type }) => type)
      .join(', ')}>`
  if (field.label === 'LABEL_REPEATED') return `repeated ${name}`
  return field.proto3Optional ? `optional ${name}` : name
}

function toValues(values: EnumDescriptor['value']): Map<string, number> {
  return new Map(values.map(({ name, number = 0 }) => [name, number]))
}
