import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Component, tidy } from './component.ts'

/** ripgrep and everything linked into it, as packaging/notices/ripgrep.json lists them. */
interface RipgrepNotices {
  /** The version of ripgrep that the list is for. */
  version: string
  components: readonly {
    name: string
    version: string
    license: string
    purl: string
    /** The hash of the published crate, in hexadecimal. */
    sha256?: string
    /** The systems it is linked on, as Node calls them; all without it. */
    on?: readonly string[]
    texts: readonly number[]
  }[]
  texts: readonly string[]
}

const RIPGREP = join(import.meta.dirname, '../../packaging/notices/ripgrep.json')

/**
 * Describes the Node inside the binary; its license file includes those of V8, OpenSSL and its other
 * dependencies.
 */
export async function nodeComponent(node = process.execPath): Promise<Component> {
  const version = process.versions.node
  const text = await readFile(join(dirname(node), '../LICENSE'), 'utf8')
  return {
    name: 'node',
    version,
    license: 'MIT',
    purl: `pkg:generic/node@${version}`,
    type: 'platform',
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:-:*:*:*`,
    texts: [tidy(text)],
  }
}

/** Reads the list of what is linked into ripgrep. */
export async function ripgrepNotices(): Promise<RipgrepNotices> {
  return JSON.parse(await readFile(RIPGREP, 'utf8'))
}

/** Describes ripgrep for a target such as `win32-x64`, with the crates and C libraries that are linked into it. */
export async function ripgrepComponents(target: string): Promise<Component[]> {
  const { components, texts } = await ripgrepNotices()
  const [system = ''] = target.split('-')
  return components
    .filter(({ on }) => on === undefined || on.includes(system))
    .map(({ on: _, sha256, texts: numbers, ...component }) => ({
      ...component,
      type: component.name === 'ripgrep' ? 'application' : 'library',
      ...(sha256 && { hash: { alg: 'SHA-256', content: sha256 } }),
      texts: numbers.map((number) => texts[number]!),
    }))
}
