const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes text between XML tags; the caller must have rejected control characters. */
export function toXmlText(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!)
}
