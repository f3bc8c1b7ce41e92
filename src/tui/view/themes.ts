import type { ColorRole } from '../../core/base/chat-settings.ts'
import type { Attribute, Palette } from './style.ts'

/** The colors of a theme by role. */
export type HexTheme = Readonly<Record<ColorRole, string>>

/** Colors for a dark background. */
export const DARK_THEME: HexTheme = {
  accent: '#56b6c2',
  dim: '#8b919c',
  success: '#98c379',
  warning: '#e5c07b',
  error: '#f07178',
  'user-background': '#2c313a',
  'diff-added': '#98c379',
  'diff-removed': '#f07178',
  'diff-added-background': '#1d3326',
  'diff-removed-background': '#3b2226',
  'diff-added-word': '#2f5d3a',
  'diff-removed-word': '#6b2d33',
  code: '#56b6c2',
  'code-keyword': '#c678dd',
  'code-string': '#98c379',
  'code-number': '#d19a66',
  'code-type': '#e5c07b',
  'code-function': '#61afef',
  'code-comment': '#8b919c',
}

/** Colors for a light background. */
export const LIGHT_THEME: HexTheme = {
  accent: '#0a6f91',
  dim: '#656d76',
  success: '#1a7f37',
  warning: '#8a5d00',
  error: '#cf222e',
  'user-background': '#eceff3',
  'diff-added': '#116329',
  'diff-removed': '#a40e26',
  'diff-added-background': '#dafbe1',
  'diff-removed-background': '#ffebe9',
  'diff-added-word': '#aceebb',
  'diff-removed-word': '#ffcecb',
  code: '#0a6f91',
  'code-keyword': '#8250df',
  'code-string': '#0a6640',
  'code-number': '#a04900',
  'code-type': '#953800',
  'code-function': '#0550ae',
  'code-comment': '#656d76',
}

const BOLD: Attribute = [1, 22]
const UNDERLINE: Attribute = [4, 24]
const INVERSE: Attribute = [7, 27]

/** Nothing is dim, and marks are bold or inverse as well. */
const HIGH_CONTRAST: Partial<Palette> = {
  dim: [],
  comment: [],
  'diff-added-word': [INVERSE],
  'diff-removed-word': [INVERSE],
  link: [UNDERLINE],
}

/** The brightest of the 16 colors, for a dark background. */
export const HIGH_CONTRAST_DARK: Partial<Palette> = {
  ...HIGH_CONTRAST,
  accent: [BOLD, [96, 39]],
  heading: [BOLD, UNDERLINE, [97, 39]],
  success: [[92, 39]],
  warning: [BOLD, [93, 39]],
  error: [BOLD, [91, 39]],
  added: [[92, 39]],
  removed: [[91, 39]],
  code: [[96, 39]],
  keyword: [[95, 39]],
  string: [[92, 39]],
  number: [[93, 39]],
  type: [[93, 39]],
  function: [[96, 39]],
}

/** The darkest of the 16 colors, for a light background. */
export const HIGH_CONTRAST_LIGHT: Partial<Palette> = {
  ...HIGH_CONTRAST,
  accent: [BOLD, [34, 39]],
  heading: [BOLD, UNDERLINE, [30, 39]],
  success: [BOLD, [32, 39]],
  warning: [BOLD, [35, 39]],
  error: [BOLD, [31, 39]],
  added: [BOLD, [32, 39]],
  removed: [BOLD, [31, 39]],
  code: [[34, 39]],
  keyword: [[35, 39]],
  string: [[32, 39]],
  number: [[31, 39]],
  type: [[35, 39]],
  function: [[34, 39]],
}
