/** A color as red, green and blue, each from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** The number of bits of a color that the terminal shows: 16 colors, 256 colors, or all of them. */
export type ColorDepth = 4 | 8 | 24

/** Parses `#rrggbb`. */
export function parseHexColor(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

/** Mixes two colors; `share` is the part of the second one, from 0 to 1. */
export function mixColors(one: Rgb, other: Rgb, share: number): Rgb {
  const mix = (at: 0 | 1 | 2) => Math.round(one[at] * (1 - share) + other[at] * share)
  return [mix(0), mix(1), mix(2)]
}

/** Whether dark text is readable on a background (relative luminance, ITU-R BT.709). */
export function isLightColor([red, green, blue]: Rgb): boolean {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 127
}

/** Returns the SGR parameters of a foreground color, or the nearest that the terminal shows. */
export function toForeground(color: Rgb, depth: ColorDepth): string {
  if (depth === 24) return `38;2;${color.join(';')}`
  if (depth === 8) return `38;5;${findNearest(color, PALETTE_256, 16)}`
  const index = findNearest(color, ANSI_RGB, 0)
  return String(index < 8 ? 30 + index : 82 + index)
}

/** Returns the SGR parameters of a background color; undefined with 16 colors, where none is subtle enough. */
export function toBackground(color: Rgb, depth: ColorDepth): string | undefined {
  if (depth === 24) return `48;2;${color.join(';')}`
  return depth === 8 ? `48;5;${findNearest(color, PALETTE_256, 16)}` : undefined
}

/** Returns the index of the nearest color, plus `first`. */
function findNearest(color: Rgb, colors: readonly Rgb[], first: number): number {
  const distances = colors.map((one) => distance(one, color))
  return first + distances.indexOf(Math.min(...distances))
}

/** Weighs the differences by how well eyes see them. */
function distance(one: Rgb, other: Rgb): number {
  return 3 * (one[0] - other[0]) ** 2 + 6 * (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2
}

const CUBE = [0, 95, 135, 175, 215, 255] as const

/** The colors 16 to 255 of xterm: a cube of 6 x 6 x 6, and 24 shades of gray. */
const PALETTE_256: readonly Rgb[] = [
  ...CUBE.flatMap((red) => CUBE.flatMap((green) => CUBE.map((blue): Rgb => [red, green, blue]))),
  ...Array.from({ length: 24 }, (_, at): Rgb => [8 + 10 * at, 8 + 10 * at, 8 + 10 * at]),
]

/** The 16 ANSI colors, about as terminals show them. */
const ANSI_RGB: readonly Rgb[] = [...toEight(205, 0), [127, 127, 127], ...toEight(255, 0).slice(1)]

/** Returns the eight combinations of red, green and blue. */
function toEight(on: number, off: number): Rgb[] {
  const level = (bit: number) => (bit === 0 ? off : on)
  return [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [level(bits & 1), level(bits & 2), level(bits & 4)])
}
