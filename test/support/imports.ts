import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** A source file of this project, its path relative to the root with forward slashes. */
export interface Source {
  path: string
  text: string
  /** The lines without comments. */
  code: string[]
  imports: Import[]
}

/** One import: static, dynamic, of a type, or a re-export. */
export interface Import {
  /** The specifier as written. */
  specifier: string
  /** The file it names, relative to the root; undefined for a package or a built-in. */
  file: string | undefined
}

/** Every TypeScript file in these top-level folders, generated ones included. */
export function readSources(...folders: string[]): Source[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,cts,mts,cjs}`, { cwd: ROOT }))
    .map((path) => toSource(path.replaceAll('\\', '/'), readFileSync(join(ROOT, path), 'utf8')))
}

/** Parses a source file from its text. */
export function toSource(path: string, text: string): Source {
  const code = text.split('\n').filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line))
  const imports = [...code.join('\n').matchAll(IMPORT)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3]!
    return {
      specifier,
      file: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
    }
  })
  return { path, text, code, imports }
}

/** Finds a cycle of imports; undefined without one. */
export function findCycle(sources: readonly Source[]): string[] | undefined {
  const targets = new Map(
    sources.map(({ path, imports }) => [path, imports.flatMap(({ file }) => file ?? [])]),
  )
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return undefined
    for (const target of targets.get(path) ?? []) {
      const cycle = visit(target, [...trail, path])
      if (cycle !== undefined) return cycle
    }
    finished.add(path)
    return undefined
  }
  for (const path of targets.keys()) {
    const cycle = visit(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

const FROM = /^(?:import|export)\b[^'"]*?\bfrom\s+['"]([^'"]+)['"]/
const BARE = /^import\s+['"]([^'"]+)['"]/
const CALL = /\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/
const IMPORT = new RegExp([FROM, BARE, CALL].map(({ source }) => source).join('|'), 'gm')
