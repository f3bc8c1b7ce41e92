/** Returns the value if it is a string, otherwise an empty string. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
