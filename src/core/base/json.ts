import type { JsonObject } from './message.ts'

/** Whether a value that was JSON is an object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON object a text is; undefined for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // only the caller knows whether that is a failure
  }
}

/**
 * A value as JSON text that a terminal can show: control characters and those that reorder or hide text are escaped. Every
 * reader of JSON gets the same value.
 */
export function toShownJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(UNSHOWABLE, toEscape)
}

function toEscape(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** C0 characters are escaped in JSON anyway. A blank of no width is needed between letters, and in emoji: those two stay. */
const UNSHOWABLE = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
