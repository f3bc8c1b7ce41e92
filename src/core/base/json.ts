import type { JsonObject } from './message.ts'

/** Whether a parsed JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a text as a JSON object; undefined for any other text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // the caller decides whether this is a failure
  }
}

/**
 * Parses the JSON in an answer, with or without the code fence that models like to add; undefined when it is
 * not JSON.
 */
export function parseAnswer(answer: string): unknown {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(answer)
  try {
    return JSON.parse(fenced?.[1] ?? answer)
  } catch {
    return undefined // an answer that is not JSON is an ordinary case for the caller
  }
}

/**
 * Serializes a value as JSON that a terminal can display: control characters, and characters that reorder or
 * hide text, are escaped. Every JSON parser reads the same value from it.
 */
export function toShownJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(UNSHOWABLE, toEscape)
}

function toEscape(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/**
 * The characters to escape. JSON already escapes C0 characters. The zero-width joiner and non-joiner stay,
 * because letters and emoji need them.
 */
const UNSHOWABLE = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
