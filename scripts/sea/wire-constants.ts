import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/** An enum as `npm run proto` writes it. */
const CONSTANTS = /^export const \w+ = \{[^{}]*\} as const;$/gm

/** Code that compares values of the wire but never reads or writes it. The build fails when one does. */
const USERS = /[\\/]src[\\/](tui[\\/]|core[\\/]questions[\\/]|cli[\\/]permission-settings\.ts$)/

/**
 * Bundles the enums of the wire apart from its codec of 400 KB, so that the first frame of the chat loads no
 * codec (ADR 0181).
 */
export const wireConstants: Plugin = {
  name: 'wire-constants',
  setup(build) {
    build.onResolve({ filter: /[\\/]crabtalk\.generated\.ts$/ }, ({ path, resolveDir, importer }) => ({
      path: resolve(resolveDir, path),
      ...((USERS.test(importer) || path === OWN_IMPORT) && { suffix: '?constants' }),
      sideEffects: false,
    }))
    build.onLoad({ filter: /[\\/]crabtalk\.generated\.ts$/ }, async ({ path, suffix }) => {
      const { constants, codec } = splitConstants(await readFile(path, 'utf8'))
      return { contents: suffix === '' ? codec : constants, loader: 'ts', resolveDir: dirname(path) }
    })
  },
}

/** The codec's import of its enums; all others have another path. */
const OWN_IMPORT = './../protocol/crabtalk.generated.ts'

/** Splits the generated file into its enums, and a codec that exports them, too. */
export function splitConstants(generated: string): { constants: string; codec: string } {
  const constants = generated.match(CONSTANTS) ?? []
  if (constants.length === 0) throw new Error('Cannot bundle the wire: its enums are written in a new way')
  const codec = `${generated.replaceAll(CONSTANTS, '')}\nexport * from '${OWN_IMPORT}'\n`
  return { constants: constants.join('\n'), codec }
}
