import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

// A standalone program: writes the templates of the catalog into one module, because the binary has no files; with
// `--check` it changes nothing and fails unless the module is up to date.
const ROOT = join(import.meta.dirname, '../src/edge/catalog')
const TARGET = join(ROOT, 'bundled.generated.ts')

const folder = join(ROOT, 'templates')
const names = (await readdir(folder)).filter((name) => name.endsWith('.toml')).sort()
const texts = await Promise.all(
  names.map(async (name) => {
    const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n')
    return [basename(name, '.toml'), text]
  }),
)
const module = `// Written by npm run catalog:generate from the files in templates/.

/** The texts of the bundled templates, by id. */
export const BUNDLED_TEMPLATES: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(texts), null, 2)}
`
if (!process.argv.includes('--check')) await writeFile(TARGET, module)
else if (module !== (await readFile(TARGET, 'utf8').catch(() => ''))) {
  console.error(
    'src/edge/catalog/bundled.generated.ts does not match its templates: run npm run catalog:generate',
  )
  process.exitCode = 1
}
