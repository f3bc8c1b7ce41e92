/** What is a text, else empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
