import { readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { packComponent } from './components/pack.ts'

// npm run build:components
// Writes dist/components: the npm package of every component below components/.
const ROOT = join(import.meta.dirname, '..')
const out = join(ROOT, 'dist/components')
await rm(out, { recursive: true, force: true })
for (const component of await readdir(join(ROOT, 'components'))) {
  console.log(relative(ROOT, await packComponent(component, out)))
}
