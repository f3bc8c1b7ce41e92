/** What is a text, else empty. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
