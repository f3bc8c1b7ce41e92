import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../..')
const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'))

test('every link of the documentation points to an existing file and heading', async () => {
  const broken: string[] = []
  for (const page of [
    'README.md',
    'AGENTS.md',
    'ARCHITECTURE.md',
    'docs/decisions/README.md',
    ...names.map((name) => join('docs', name)),
  ]) {
    for (const [, target = ''] of (await readFile(join(ROOT, page), 'utf8')).matchAll(
      /\]\((?!https?:)([^)]+)\)/g,
    )) {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? join(ROOT, page) : join(ROOT, dirname(page), file)
      const isThere = existsSync(path) && (anchor === undefined || (await findAnchors(path)).includes(anchor))
      if (!isThere) broken.push(`${page}: ${target}`)
    }
  }
  assert.deepEqual(broken, [])
})

test('docs/README.md links to every page', async () => {
  const map = await readFile(join(ROOT, 'docs/README.md'), 'utf8')
  assert.deepEqual(
    names.filter((name) => name !== 'README.md' && !map.includes(`](${name})`)),
    [],
  )
})

/** Returns the anchors that GitHub creates for headings. */
async function findAnchors(path: string): Promise<string[]> {
  const headings = (await readFile(path, 'utf8')).matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
