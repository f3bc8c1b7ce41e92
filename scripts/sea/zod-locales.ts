import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

const ENGLISH = 'export { default as en } from "./en.js";'
const LOCALE = /^export \{ default as \w+ \} from "\.\/[\w-]+\.js";$/

/** Keeps the English one of the 50 languages that zod exports as one object; they would be 266 KB of the binary. */
export const zodLocales: Plugin = {
  name: 'zod-locales',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, async ({ path }) => {
      return { contents: keepEnglish(await readFile(path, 'utf8')), loader: 'js' }
    })
  },
}

/** zod's list of locales with English alone. Throws when it is not the plain list it was. */
export function keepEnglish(list: string): string {
  const lines = list.split('\n').filter((line) => line !== '' && !line.startsWith('//'))
  if (lines.includes(ENGLISH) && lines.every((line) => LOCALE.test(line))) return `${ENGLISH}\n`
  throw new Error('Cannot trim the locales of zod: their list has changed; adapt scripts/sea/zod-locales.ts')
}
