import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { toSvg } from '../../scripts/docs/screen-svg.ts'
import { makePalette } from '../../src/tui/view/palette.ts'
import type { Palette, TextStyle } from '../../src/tui/view/style.ts'

const FOLDER = resolve(import.meta.dirname, '../../docs/images')

/** The environment of a terminal with all colors and a dark background, and with a light one. */
export const PICTURE_TERMINAL = { COLORTERM: 'truecolor', COLORFGBG: '15;0' }
export const LIGHT_TERMINAL = { COLORTERM: 'truecolor', COLORFGBG: '0;15' }

/** A screen with its colors, and what its picture is called. */
export interface PicturedScreen {
  lines: readonly string[]
  /** The directory that is shown as `~/proj`. */
  cwd: string
  columns: number
  title: string
  /** Whether the terminal is light. */
  isLight?: boolean
}

/** Compares a screen with its picture in docs/images; `npm run pictures` rewrites it. */
export async function assertPicture(
  name: string,
  { lines, cwd, columns, title, isLight = false }: PicturedScreen,
): Promise<void> {
  const path = resolve(FOLDER, `${name}.svg`)
  const used = lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1)
  const shown = used.map((line) => toStable(line.replaceAll(cwd, '~/proj')))
  const svg = toSvg(shown, { columns, title, isLight, ...(isLight ? LIGHT_TINTS : TINTS) })
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
    .replaceAll(/\b(runs|asks|ended) [ \d]\d+s\b/g, '$1  4s')
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

const [DARK, LIGHT] = [false, true].map((isLight) =>
  makePalette({ theme: 'auto', colors: {} }, { depth: 24, isLight }),
) as [Palette, Palette]

/** The classes of the tints on a dark background, with their colors on both backgrounds. */
const TINTS = {
  backgrounds: toClasses(DARK),
  css: `${toRules(DARK)}\n@media (prefers-color-scheme:light){${toRules(LIGHT)}}\n`,
}
const LIGHT_TINTS = { backgrounds: toClasses(LIGHT), css: `${toRules(LIGHT)}\n` }

function toClasses(palette: Palette): Map<string, string> {
  return new Map(TINT_STYLES.map((style) => [toCode(palette, style), style]))
}

function toRules(palette: Palette): string {
  return TINT_STYLES.map((style) => {
    const rgb = toCode(palette, style).split(';').slice(2).join(' ')
    return `.${style}{fill:rgb(${rgb})}`
  }).join('')
}

function toCode(palette: Palette, style: TextStyle): string {
  return String(palette[style][0]?.[0] ?? '')
}
