import type { MemoryEntry, MemoryKind } from '../types.ts'
import { formatEntryFile } from './entry-file.ts'
import { fileStems } from './file-stems.ts'

/** The folder of each kind, in their order in SUMMARY.md. */
export const KIND_FOLDERS = {
  note: 'notes',
  archive: 'archives',
  topic: 'topics',
} as const satisfies Record<MemoryKind, string>

export const SUMMARY_FILE = 'SUMMARY.md'
export const BOOK_FILE = 'book.toml'

/** Written where there is none (RFC 0150). */
export const BOOK_TEXT = '[book]\ntitle = "Memory"\nsrc = "."\n'

/** The files of a memory by their paths in the tree, with `/`; SUMMARY.md is the last. */
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

/** An archive is named after its session, which tells a person nothing; its title is its alias. */
function renderTitle({ kind, name, aliases }: MemoryEntry): string {
  const title = (kind === 'archive' ? aliases[0] : undefined) ?? name
  return title.replace(/[\s\p{C}]+/gu, ' ').replace(/[\\`*_[\]<>&#!|~$^{}]/g, '\\$&')
}
