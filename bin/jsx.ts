import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

// Preload for running from source (`node --import ./bin/jsx.ts …`), or imported first: Node strips types by
// itself but does not support JSX. It costs nothing until the first `.tsx` is loaded, which loads esbuild.
registerHooks({
  load: (url, context, nextLoad) => (url.endsWith('.tsx') ? loadJsx(url) : nextLoad(url, context)),
})

function loadJsx(url: string): { format: 'module'; source: string; shortCircuit: true } {
  process.setSourceMapsEnabled(true)
  const { transformSync }: typeof import('esbuild') = createRequire(import.meta.url)('esbuild')
  const path = fileURLToPath(url)
  const { code } = transformSync(readFileSync(path, 'utf8'), {
    loader: 'tsx',
    jsx: 'automatic',
    sourcefile: path,
    sourcemap: 'inline',
    target: `node${process.versions.node}`,
  })
  return { format: 'module', source: code, shortCircuit: true }
}
