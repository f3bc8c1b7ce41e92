import {
  ANSI_COLORS,
  type ChatSettings,
  type ColorRole,
  type ThemeName,
} from '../../core/base/chat-settings.ts'
import {
  type ColorDepth,
  isLightColor,
  mixColors,
  parseHexColor,
  type Rgb,
  toBackground,
  toForeground,
} from './rgb.ts'
import { ANSI_PALETTE, type Attribute, type Palette, type TextStyle } from './style.ts'
import { DARK_THEME, type HexTheme, HIGH_CONTRAST_DARK, HIGH_CONTRAST_LIGHT, LIGHT_THEME } from './themes.ts'

/** The colors that a terminal shows, as far as they are known. */
export interface TerminalColors {
  depth: ColorDepth
  /** The background. */
  background?: Rgb | undefined
  /** Whether the background is light; undefined while unknown. */
  isLight?: boolean | undefined
}

/** Builds the palette of a theme on a terminal. The theme `none` is handled by not coloring at all. */
export function makePalette(
  { theme, colors }: Pick<ChatSettings, 'theme' | 'colors'>,
  terminal: TerminalColors,
): Palette {
  const base = { ...ANSI_PALETTE, ...themeStyles(theme, terminal) }
  const own = Object.entries(colors).flatMap(([role, color]) =>
    ownStyle(role as ColorRole, color, terminal.depth),
  )
  return { ...base, ...Object.fromEntries(own) }
}

function themeStyles(theme: ThemeName, terminal: TerminalColors): Partial<Palette> {
  switch (theme) {
    case 'light':
      return fromHex(LIGHT_THEME, terminal.depth)
    case 'dark':
      return fromHex(DARK_THEME, terminal.depth)
    case 'high-contrast':
      return isLight(terminal) ? HIGH_CONTRAST_LIGHT : HIGH_CONTRAST_DARK
    case 'auto':
      return tint(terminal)
    case 'ansi':
    case 'none':
      return {}
  }
}

function isLight({ background, isLight: known }: TerminalColors): boolean | undefined {
  return background ? isLightColor(background) : known
}

/** Tints the terminal's own background; without a known background there are no tints. */
function tint(terminal: TerminalColors): Partial<Palette> {
  const light = isLight(terminal)
  if (light === undefined) return {}
  const background = terminal.background ?? (light ? WHITE : BLACK)
  const [green, red] = light ? LIGHT_TINTS : DARK_TINTS
  const shades: Partial<Record<TextStyle, Rgb>> = {
    'user-background': mixColors(background, light ? BLACK : WHITE, light ? 0.06 : 0.1),
    'diff-added-background': mixColors(background, green, light ? 0.18 : 0.2),
    'diff-removed-background': mixColors(background, red, light ? 0.16 : 0.22),
    'diff-added-word': mixColors(background, green, 0.42),
    'diff-removed-word': mixColors(background, red, 0.42),
  }
  return Object.fromEntries(
    Object.entries(shades).flatMap(([style, color]) => entry(style, toShade(color, terminal.depth))),
  )
}

const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]
const LIGHT_TINTS: readonly [Rgb, Rgb] = [
  [46, 160, 67],
  [255, 72, 66],
]
const DARK_TINTS: readonly [Rgb, Rgb] = [
  [46, 180, 80],
  [248, 81, 73],
]

function entry(
  style: string,
  attributes: readonly Attribute[] | undefined,
): [string, readonly Attribute[]][] {
  return attributes ? [[style, attributes]] : []
}

function toShade(color: Rgb, depth: ColorDepth): readonly Attribute[] | undefined {
  const open = toBackground(color, depth)
  return open === undefined ? undefined : [[open, 49]]
}

function fromHex(theme: HexTheme, depth: ColorDepth): Partial<Palette> {
  return Object.fromEntries(
    Object.entries(theme).flatMap(([role, color]) => ownStyle(role as ColorRole, color, depth)),
  )
}

/** Returns the styles that a color of a role sets. */
function ownStyle(role: ColorRole, color: string, depth: ColorDepth): [TextStyle, readonly Attribute[]][] {
  const attributes = BACKGROUNDS.has(role)
    ? toBackgroundStyle(color, depth)
    : [toForegroundStyle(color, depth)]
  const styles = ROLE_STYLES[role]
  return attributes ? styles.map((style) => [style, withWeight(style, attributes)]) : []
}

function withWeight(style: TextStyle, attributes: readonly Attribute[]): readonly Attribute[] {
  return style === 'heading' ? [[1, 22], ...attributes] : attributes
}

function toForegroundStyle(color: string, depth: ColorDepth): Attribute {
  if (color === 'default') return [39, 39]
  const index = ANSI_COLORS.findIndex((name) => name === color)
  if (index >= 0) return [index < 8 ? 30 + index : 82 + index, 39]
  return [toForeground(parseHexColor(color), depth), 39]
}

function toBackgroundStyle(color: string, depth: ColorDepth): readonly Attribute[] | undefined {
  if (color === 'default') return []
  const index = ANSI_COLORS.findIndex((name) => name === color)
  if (index >= 0) return [[index < 8 ? 40 + index : 92 + index, 49]]
  return toShade(parseHexColor(color), depth)
}

const BACKGROUNDS: ReadonlySet<ColorRole> = new Set([
  'user-background',
  'diff-added-background',
  'diff-removed-background',
  'diff-added-word',
  'diff-removed-word',
])

/** The styles whose color each role sets. */
const ROLE_STYLES: Readonly<Record<ColorRole, readonly TextStyle[]>> = {
  accent: ['accent', 'heading'],
  dim: ['dim'],
  success: ['success'],
  warning: ['warning'],
  error: ['error'],
  'user-background': ['user-background'],
  'diff-added': ['added'],
  'diff-removed': ['removed'],
  'diff-added-background': ['diff-added-background'],
  'diff-removed-background': ['diff-removed-background'],
  'diff-added-word': ['diff-added-word'],
  'diff-removed-word': ['diff-removed-word'],
  code: ['code'],
  'code-keyword': ['keyword'],
  'code-string': ['string'],
  'code-number': ['number'],
  'code-type': ['type'],
  'code-function': ['function'],
  'code-comment': ['comment'],
}
