const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A text between tags of XML; control characters must have been refused before. */
export function toXmlText(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!)
}
