import { isDeepStrictEqual } from 'node:util'
import { imageType } from '../../core/base/image-type.ts'
import { isObject } from '../../core/base/json.ts'
import type { Attachment, JsonObject } from '../../core/base/message.ts'
import type { ToolOutput } from '../../core/runtime/hook.ts'
import { limitOutput, type Spill, spillContent } from './output-limit.ts'
import { toPrintableLine } from './server-text.ts'

/** The options of `toToolOutput()`. */
export interface ResultOptions {
  /** The maximum bytes of text for the model. */
  limitBytes: number
  spill: Spill
  /**
   * Whether files of every kind are attached, for a user who saves them; a model only gets images and audio.
   */
  attachesAll?: boolean
}

/**
 * Converts the result of a call for a model: text, attachments for images and audio, files for content that
 * is too long.
 *
 * Content of an unknown kind is replaced by a note about it. Structured content that repeats the text is sent
 * once.
 */
export async function toToolOutput(
  result: unknown,
  { limitBytes, spill, attachesAll = false }: ResultOptions,
): Promise<ToolOutput> {
  const { content, structuredContent, isError, ...rest } = isObject(result) ? result : { content: result }
  const places = {
    spill,
    attachesAll,
    room: { bytes: attachesAll ? MAX_USER_ATTACHED_BYTES : MAX_ATTACHED_BYTES },
  }
  const parts = await Promise.all(toContentItems(content, rest).map((item) => toPart(item, places)))
  const texts = parts.flatMap(({ text }) => text ?? [])
  const words = parts.flatMap(({ isWords, text }) => (isWords && text !== undefined ? text : []))
  const more = omitRepeated(words, structuredContent)
  if (more !== undefined) texts.push(toJson(more))
  const attachments = parts.flatMap(({ attachment }) => attachment ?? [])
  const text = texts.length === 0 ? NOTHING : texts.join('\n')
  return {
    output: await limitOutput(text.toWellFormed(), limitBytes, spill),
    isError: isError === true,
    ...(attachments.length > 0 && { attachments }),
  }
}

/** A piece of content, converted. */
interface Part {
  text?: string
  /** Whether the text is the server's own, not a note about other content. */
  isWords?: boolean
  attachment?: Attachment
}

/** The destinations of content. */
interface Places {
  spill: Spill
  attachesAll: boolean
  /** The bytes that may still be attached to this result, used up in the order of its content. */
  room: { bytes: number }
}

/** Normalizes content: some servers answer with a plain string, or with something else entirely. */
function toContentItems(content: unknown, rest: JsonObject): unknown[] {
  if (Array.isArray(content)) return content
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content !== undefined) return [{ type: 'text', text: toJson(content) }]
  const { _meta, resultType, ...own } = rest
  return Object.keys(own).length > 0 ? [{ type: 'text', text: toJson(own) }] : []
}

async function toPart(item: unknown, limits: Places): Promise<Part> {
  if (!isObject(item)) return toOmittedPart('it is not an object')
  const { type, text, data, mimeType, resource } = item
  if (type === 'text' && typeof text === 'string') return { text, isWords: true }
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return await toFilePart(`${type}`, { data, mimeType: parseMediaType(mimeType, type) }, limits)
  }
  if (type === 'resource_link' && typeof item['uri'] === 'string') return { text: describeLink(item) }
  if (type === 'resource' && isObject(resource)) return await toResource(resource, limits)
  return toOmittedPart(
    typeof type === 'string' ? `its type is ${JSON.stringify(toPrintableLine(type))}` : 'it has no type',
  )
}

async function toResource({ uri, mimeType, text, blob }: JsonObject, limits: Places): Promise<Part> {
  const name = toPrintableLine(String(uri ?? 'resource'))
  if (typeof text === 'string') return { text: `[${name}]\n${text}` }
  if (typeof blob !== 'string') return toOmittedPart(`${name} has neither text nor data`)
  return await toFilePart(name, { data: blob, mimeType: parseMediaType(mimeType, 'application') }, limits)
}

/** Attaches images and audio; any other content, and what is too large, becomes a file. */
async function toFilePart(
  name: string,
  { data, mimeType }: { data: string; mimeType: string },
  { spill, attachesAll, room }: Places,
): Promise<Part> {
  if (NOT_BASE64.test(data)) return toOmittedPart(`${name}, ${mimeType}: its data is not base64`)
  const bytes = Buffer.from(data, 'base64')
  const media = imageType(bytes) ?? audioType(bytes) ?? (attachesAll ? mimeType : undefined)
  const isSmall = attachesAll || bytes.length <= MAX_ATTACHMENT_BYTES
  if (media && isSmall && bytes.length <= room.bytes) {
    room.bytes -= bytes.length
    // Few models accept audio: the others need a file, which one of their tools may understand.
    const fileNote =
      media.startsWith('audio/') && !attachesAll
        ? `; ${await spillContent(bytes, toExtension(media), spill)}`
        : ''
    return {
      text: `[${name}, ${media}, attached${fileNote}]`,
      attachment: { media_type: media, data: bytes.toString('base64') },
    }
  }
  const why = media && isSmall ? ', too much to attach with the rest' : ''
  const whole = await spillContent(bytes, toExtension(media ?? mimeType), spill)
  return { text: `[${name}, ${media ?? mimeType}, ${bytes.length} bytes${why}; ${whole}]` }
}

/** Detects the media type of audio by its first bytes, because the server's own type is not reliable. */
function audioType(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('RIFF') && head.endsWith('WAVE')) return 'audio/wav'
  if (head.startsWith('OggS')) return 'audio/ogg'
  if (head.startsWith('fLaC')) return 'audio/flac'
  return /^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/.test(head) ? 'audio/mpeg' : undefined
}

function describeLink({ uri, name, mimeType, description }: JsonObject): string {
  const about = [name, mimeType, description].filter((one) => typeof one === 'string' && one !== '')
  return `[link to ${toPrintableLine(String(uri))}${about.length > 0 ? `: ${toPrintableLine(about.join(', '))}` : ''}]`
}

function toOmittedPart(why: string): Part {
  return { text: `[content left out: ${why}]` }
}

/**
 * Returns structured content without what the server also sent as text, as it should for older clients:
 * either all of it as JSON, or one value in it, which some servers wrap in an object. Undefined when nothing
 * is left.
 */
function omitRepeated(words: readonly string[], structured: unknown): unknown {
  if (isRepeated(words, structured)) return undefined
  if (!isObject(structured)) return structured
  const keys = Object.keys(structured)
  const repeatedKeys = keys.filter((key) => isRepeated(words, structured[key]))
  const [only] = repeatedKeys
  if (only === undefined || repeatedKeys.length > 1) return structured // the text may stand for any of them
  if (keys.length === 1) return undefined
  const { [only]: value, ...rest } = structured
  return typeof value === 'string' || typeof value === 'object' ? rest : structured // a number needs its name
}

function isRepeated(words: readonly string[], value: unknown): boolean {
  if (words.some((text) => repeatsValue(text, value))) return true
  return (
    Array.isArray(value) &&
    value.length === words.length &&
    value.every((one, i) => repeatsValue(words[i]!, one))
  )
}

function repeatsValue(text: string, value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === text.trim()
  const begin = text.trimStart()[0]
  if (typeof value === 'object' && value !== null && begin !== '{' && begin !== '[') return false
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false // not JSON, or nested too deep to compare: both are sent
  }
}

/** Serializes a value; stringifying throws for values nested deeper than the stack allows. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '[structured content left out: it is nested too deep]'
  }
}

/** Returns a valid media type without its parameters, or a default for its kind. */
function parseMediaType(value: unknown, kind: string): string {
  const [type = ''] = typeof value === 'string' ? value.toLowerCase().split(';') : []
  if (/^[\w.+-]+\/[\w.+-]+$/.test(type.trim())) return type.trim()
  return kind === 'application' ? 'application/octet-stream' : `${kind}/unknown`
}

function toExtension(mimeType: string): string {
  const [, subtype = ''] = mimeType.split('/')
  return /^[a-z0-9]{1,8}$/.test(subtype) ? subtype : 'bin'
}

const NOTHING = '[no content]'
/** Providers refuse images over 5 MB; base64 adds a third. */
const MAX_ATTACHMENT_BYTES = 3_750_000
/** The limit of one result for a model: every later request includes it. */
const MAX_ATTACHED_BYTES = 5_000_000
/** The limit of one result for a user: it shares a frame with the text. */
const MAX_USER_ATTACHED_BYTES = 7_000_000
const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/
