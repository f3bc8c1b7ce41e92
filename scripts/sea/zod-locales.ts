import type { Patch } from './patch.ts'

const ENGLISH = 'export { default as en } from "./en.js";'
const LOCALE = /^export \{ default as \w+ \} from "\.\/[\w-]+\.js";$/

/**
 * Keeps only English of the 50 languages that zod exports as one object; they would add 266 KB to the binary.
 */
export const PATCHES: readonly Patch[] = [
  { filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, patch: keepEnglish },
]

/** Returns zod's list of locales with English alone; undefined when it is not the expected plain list. */
export function keepEnglish(list: string): string | undefined {
  const lines = list.split('\n').filter((line) => line !== '' && !line.startsWith('//'))
  return lines.includes(ENGLISH) && lines.every((line) => LOCALE.test(line)) ? `${ENGLISH}\n` : undefined
}
