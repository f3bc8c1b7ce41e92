import type { MemoryEntry, MemoryKind } from '../types.ts'
import { formatEntryFile } from './entry-file.ts'
import { fileStems } from './file-stems.ts'

/** The folder of each kind, in the order of SUMMARY.md. */
export const KIND_FOLDERS = {
  note: 'notes',
  archive: 'archives',
  topic: 'topics',
} as const satisfies Record<MemoryKind, string>

/** mdBook's table of contents, written by every dump; it also marks a folder as a dump. */
export const SUMMARY_FILE = 'SUMMARY.md'
/** mdBook's configuration; a dump creates it but never overwrites it. */
export const BOOK_FILE = 'book.toml'

/** The contents of a new book.toml. */
export const BOOK_TEXT = '[book]\ntitle = "Memory"\nsrc = "."\n'

/** Returns the files of a memory by path in the tree, separated by `/`; SUMMARY.md is the last. */
export function toTreeFiles(entries: readonly MemoryEntry[]): Map<string, string> {
  const files = new Map<string, string>()
  const parts = ['# Summary\n']
  for (const [kind, folder] of Object.entries(KIND_FOLDERS)) {
    const own = entries.filter((entry) => entry.kind === kind)
    const stems = fileStems(own.map(({ name }) => name))
    const links = own.map((entry, index) => {
      const path = `${folder}/${stems[index]}.md`
      files.set(path, formatEntryFile(entry, stems[index]!))
      return { text: renderTitle(entry), path }
    })
    if (links.length > 0) parts.push(renderBookPart(folder, links))
  }
  return files.set(SUMMARY_FILE, parts.join('\n'))
}

interface Link {
  text: string
  path: string
}

function renderBookPart(folder: string, links: readonly Link[]): string {
  const title = `${folder[0]!.toUpperCase()}${folder.slice(1)}`
  const sorted = links.toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
  const lines = sorted.map(({ text, path }) => `- [${text}](${path.replaceAll(' ', '%20')})\n`)
  return `# ${title}\n\n${lines.join('')}`
}

/**
 * Returns the link text. An archive is named after its session, which is meaningless to a person; its title
 * is its alias.
 */
function renderTitle({ kind, name, aliases }: MemoryEntry): string {
  const title = (kind === 'archive' ? aliases[0] : undefined) ?? name
  return title.replace(/[\s\p{C}]+/gu, ' ').replace(/[\\`*_[\]<>&#!|~$^{}]/g, '\\$&')
}
