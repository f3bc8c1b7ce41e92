import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { toProduct, writeNotices } from '../notices/files.ts'
import { bundledFolders, npmComponents } from '../notices/npm.ts'
import { FOR_COMPONENTS } from './bundle.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The fields of a component's package.json that are used here. */
interface PackageFile {
  name: string
  version: string
  description: string
  license: string
  bin: Record<string, string>
  private: true
}

/**
 * Builds the npm package of a component, given its folder below `components/`, into the folder `out`; returns
 * the path of the tarball.
 *
 * Its program is one plain JavaScript file without dependencies.
 */
export async function packComponent(component: string, out: string): Promise<string> {
  const folder = join(ROOT, 'components', component)
  const about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageFile
  const stage = join(resolve(out), about.name)
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true })
  const { metafile } = await build({
    ...FOR_COMPONENTS,
    entryPoints: [join(folder, 'src/main.ts')],
    outfile: join(stage, Object.values(about.bin)[0]!),
    banner: { js: '#!/usr/bin/env node' },
    metafile: true,
  })
  await writeNotices(stage, toProduct(about), await npmComponents(bundledFolders([metafile])))
  const { private: _, ...published } = about
  await writeFile(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  await cp(join(folder, 'README.md'), join(stage, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'))
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(out)]
  await promisify(execFile)('npm', args, { cwd: stage, shell: process.platform === 'win32' })
  return join(resolve(out), `${about.name}-${about.version}.tgz`)
}
