/** The functions that render each generated section of a page. */
export type Sections = Readonly<Record<string, () => string>>

/**
 * Replaces the text between each `<!-- generated NAME -->` and `<!-- end -->` of a page. Throws when a
 * section is missing.
 */
export function replaceSections(page: string, text: string, sections: Sections): string {
  return Object.entries(sections).reduce((whole, [name, make]) => {
    const begin = `<!-- generated ${name} -->\n`
    const start = whole.indexOf(begin)
    const end = whole.indexOf('<!-- end -->', start)
    if (start < 0 || end < 0) throw new Error(`Cannot generate docs/${page}: it has no section ${name}`)
    return `${whole.slice(0, start + begin.length)}\n${make().trim()}\n\n${whole.slice(end)}`
  }, text)
}

/** Renders a Markdown table; bars within cells are escaped. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), `|${header.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Escapes the characters `*` and `<`, which Markdown would interpret. */
export function plain(text: string): string {
  return text.replaceAll(/[*<]/g, '\\$&')
}

/** Renders inline code, also for text that contains backticks. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}
