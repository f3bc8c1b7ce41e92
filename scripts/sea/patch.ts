import { readFile } from 'node:fs/promises'
import type { PluginBuild } from 'esbuild'

/** A change to files of a package while they are bundled. */
export interface Patch {
  /** Which files, by their path. */
  filter: RegExp
  /** The text as it should be; undefined when what is to be changed is not there as expected. */
  patch: (text: string) => string | undefined
}

/** Changes files as they are read. The build fails when one of them is no longer what its patch was made for. */
export function patchFiles(build: PluginBuild, patches: readonly Patch[]): void {
  for (const { filter, patch } of patches) {
    build.onLoad({ filter }, async ({ path }) => {
      const contents = patch(await readFile(path, 'utf8'))
      if (contents !== undefined) return { contents, loader: 'js' }
      throw new Error(`Cannot bundle ${path}: it has changed; adapt the patches of scripts/sea`)
    })
  }
}

/** The text with its only occurrence of something replaced; undefined when it is not there exactly once. */
export function replaceOnly(text: string, what: string, by: string): string | undefined {
  const [before, after, ...more] = text.split(what)
  return after === undefined || more.length > 0 ? undefined : before + by + after
}
