/** The arguments of a call as the model wrote them; empty when that is no JSON object. */
export function readArguments(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : {}
  } catch {
    return {} // half an object, while it is written, or nonsense: the result says so
  }
}

/** What is a text, else empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether a value from JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
