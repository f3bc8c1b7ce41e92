import { parseArgs } from 'node:util'
import type { JsonObject } from '../../../src/core/base/message.ts'

/** The acts that the server can perform instead of its normal step. */
export const ACTS = ['crash', 'exit', 'kill', 'torn', 'hang', 'deaf', 'close', 'error'] as const
export type Act = (typeof ACTS)[number]

const IGNORED = ['eof', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const
const GRANDCHILDREN = ['plain', 'session', 'stubborn', 'session+stubborn'] as const
const NOISES = ['text', 'blank', 'json', 'partial', 'huge', 'bom', 'crlf', 'split'] as const
const ERAS = ['legacy', 'modern', 'both'] as const
const ANSWER_FAULTS = ['twice', 'unknown', 'late', 'text-id', 'null-id'] as const
const TOOL_SETS = ['good', 'few', 'odd', 'twins', 'schemas', 'none'] as const
const CURSORS = ['repeat', 'endless'] as const

export type Ignored = (typeof IGNORED)[number]
export type GrandchildKind = (typeof GRANDCHILDREN)[number]
export type Noise = (typeof NOISES)[number]
export type Era = (typeof ERAS)[number]
export type AnswerFault = (typeof ANSWER_FAULTS)[number]
export type ToolSet = (typeof TOOL_SETS)[number]
export type CursorFault = (typeof CURSORS)[number]

/** The options of the server; the table in misbehaving-server.ts describes each. */
export interface ServerOptions {
  name?: string
  mark?: string
  starts?: string
  record?: string
  at?: Readonly<Record<string, Act>>
  first?: number
  delay?: Readonly<Record<string, number>>
  late?: Readonly<Record<string, string>>
  ignore?: readonly Ignored[]
  grandchild?: readonly GrandchildKind[]
  noise?: readonly Noise[]
  huge?: number
  flood?: number
  era?: Era
  protocol?: string
  capabilities?: JsonObject
  answers?: readonly AnswerFault[]
  ask?: readonly string[]
  tools?: readonly ToolSet[]
  pages?: number
  cursor?: CursorFault
  loop?: boolean
}

/** Parses options from a command line; throws for an unknown option or an invalid value. */
export function parseOptions(argv: readonly string[]): ServerOptions {
  const options = Object.fromEntries(
    Object.entries(KINDS).map(([name, kind]) => [
      name,
      kind === flag ? ({ type: 'boolean' } as const) : ({ type: 'string', multiple: true } as const),
    ]),
  )
  const { values } = parseArgs({ args: [...argv], options, strict: true })
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const kind = KINDS[name as keyof ServerOptions]
      return [name, kind.read(Array.isArray(value) ? value.map(String) : [])]
    }),
  ) as ServerOptions
}

/** Returns the command line for these options. */
export function formatOptions(options: ServerOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const kind = KINDS[name as keyof ServerOptions]
    return kind === flag
      ? value === true
        ? [`--${name}`]
        : []
      : kind.write(value).map((word) => `--${name}=${word}`)
  })
}

/** A kind of option value: how to parse it from arguments, and how to write it as arguments. */
interface Kind {
  read(words: string[]): unknown
  write(value: unknown): string[]
}

const flag: Kind = { read: () => true, write: () => [] }
const text: Kind = { read: (words) => words.at(-1), write: (value) => [String(value)] }
const number: Kind = { read: (words) => toNumber(words.at(-1)!), write: (value) => [String(value)] }
const texts: Kind = { read: (words) => words.flatMap((word) => word.split(',')), write: joined }
const json: Kind = { read: (words) => JSON.parse(words.at(-1)!), write: (value) => [JSON.stringify(value)] }

const KINDS: Record<keyof ServerOptions, Kind> = {
  name: text,
  mark: text,
  starts: text,
  record: text,
  at: pairsKind((word) => checkChoice(ACTS, word)),
  first: number,
  delay: pairsKind(toNumber),
  late: pairsKind((word) => word),
  ignore: listKind(IGNORED),
  grandchild: listKind(GRANDCHILDREN),
  noise: listKind(NOISES),
  huge: number,
  flood: number,
  era: choiceKind(ERAS),
  protocol: text,
  capabilities: json,
  answers: listKind(ANSWER_FAULTS),
  ask: texts,
  tools: listKind(TOOL_SETS),
  pages: number,
  cursor: choiceKind(CURSORS),
  loop: flag,
}

function listKind(allowed: readonly string[]): Kind {
  return {
    read: (words) => words.flatMap((word) => word.split(',')).map((word) => checkChoice(allowed, word)),
    write: joined,
  }
}

function choiceKind(allowed: readonly string[]): Kind {
  return { read: (words) => checkChoice(allowed, words.at(-1)!), write: (value) => [String(value)] }
}

/** Accepts `POINT=VALUE`, any number of times. */
function pairsKind(readValue: (word: string) => unknown): Kind {
  return {
    read: (words) =>
      Object.fromEntries(
        words.map((word) => {
          const cut = word.lastIndexOf('=')
          return [word.slice(0, cut), readValue(word.slice(cut + 1))]
        }),
      ),
    write: (value) => Object.entries(value as object).map(([point, word]) => `${point}=${word}`),
  }
}

function joined(value: unknown): string[] {
  const words = value as readonly string[]
  return words.length > 0 ? [words.join(',')] : []
}

function checkChoice(allowed: readonly string[], word: string): string {
  if (!allowed.includes(word)) throw new TypeError(`${word} is none of ${allowed.join(', ')}`)
  return word
}

function toNumber(word: string): number {
  const value = Number(word)
  if (word === '' || !Number.isFinite(value)) throw new TypeError(`${word} is no number`)
  return value
}
