import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { toSvg } from '../../scripts/docs/screen-svg.ts'
import { makePalette } from '../../src/tui/view/palette.ts'
import type { TextStyle } from '../../src/tui/view/style.ts'

const FOLDER = resolve(import.meta.dirname, '../../docs/images')

/** The environment of a terminal with all colors and a dark background. */
export const PICTURE_TERMINAL = { COLORTERM: 'truecolor', COLORFGBG: '15;0' }

/**
 * Compares a screen with its picture in docs/images; `npm run pictures` rewrites it. `lines` are styled, and
 * `cwd` is shown as `~/proj`.
 */
export async function assertPicture(
  name: string,
  { lines, cwd, columns, title }: { lines: readonly string[]; cwd: string; columns: number; title: string },
): Promise<void> {
  const path = resolve(FOLDER, `${name}.svg`)
  const used = lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1)
  const shown = used.map((line) => toStable(line.replaceAll(cwd, '~/proj')))
  const svg = toSvg(shown, { columns, title, ...TINTS })
  if (process.env['CRABTALK_GOLDEN'] === 'write') {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, svg)
    return
  }
  const expected = await readFile(path, 'utf8').catch(() => '')
  assert.equal(svg, expected, `${name}.svg shows something else; npm run pictures draws it anew`)
}

/** Replaces what differs between runs: durations and spinners. */
function toStable(line: string): string {
  return line
    .replace(LAST_DURATION, '')
    .replace(ONLY_DURATION, '')
    .replaceAll(/(?:\d+ m )?\d+ s · (?=\$)/g, '')
    .replaceAll(/\b\d+ s\b/g, '4 s')
    .replaceAll(/[⠁-⣿]/g, '⠋')
}

/** The duration at the end of the line of a call, after its result or alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const LAST_DURATION = / · \d+(?:\.\d+)? m?s(?=\x1b\[0m$)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const ONLY_DURATION = /\x1b\[0;2m\d+(?:\.\d+)? m?s\x1b\[0m$/

const TINT_STYLES = [
  'user-background',
  'diff-added-background',
  'diff-removed-background',
  'diff-added-word',
  'diff-removed-word',
] as const satisfies readonly TextStyle[]

const TINTS = makeTints()

/** Returns the classes of the tints on a dark background, and their colors on both backgrounds. */
function makeTints(): { backgrounds: Map<string, string>; css: string } {
  const [dark, light] = [false, true].map((isLight) =>
    makePalette({ theme: 'auto', colors: {} }, { depth: 24, isLight }),
  )
  const toCode = (palette: typeof dark, style: TextStyle) => String(palette?.[style][0]?.[0] ?? '')
  const toRules = (palette: typeof dark) =>
    TINT_STYLES.map((style) => {
      const rgb = toCode(palette, style).split(';').slice(2).join(' ')
      return `.${style}{fill:rgb(${rgb})}`
    }).join('')
  return {
    backgrounds: new Map(TINT_STYLES.map((style) => [toCode(dark, style), style])),
    css: `${toRules(dark)}\n@media (prefers-color-scheme:light){${toRules(light)}}\n`,
  }
}
