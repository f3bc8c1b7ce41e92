import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COLOR_ROLES, THEMES } from '../../../src/core/base/chat-settings.ts'
import { makePalette } from '../../../src/tui/view/palette.ts'
import {
  isLightColor,
  mixColors,
  parseHexColor,
  toBackground,
  toForeground,
} from '../../../src/tui/view/rgb.ts'
import { ANSI_PALETTE } from '../../../src/tui/view/style.ts'

const auto = { theme: 'auto', colors: {} } as const

test('makePalette() of auto has no tints while the background is unknown', () => {
  assert.deepEqual(makePalette(auto, { depth: 24 }), ANSI_PALETTE)
})

test('makePalette() of auto tints the background of the terminal, light or dark', () => {
  const dark = makePalette(auto, { depth: 24, background: [0, 0, 0] })
  assert.deepEqual(dark['user-background'], [['48;2;26;26;26', 49]])
  assert.deepEqual(dark.accent, ANSI_PALETTE.accent)
  const light = makePalette(auto, { depth: 24, background: [255, 255, 255] })
  assert.deepEqual(light['user-background'], [['48;2;240;240;240', 49]])
  assert.deepEqual(makePalette(auto, { depth: 24, isLight: true }), light)
})

test('makePalette() never sets a background with 16 colors, but for colors of the user', () => {
  for (const theme of THEMES) {
    const palette = makePalette({ theme, colors: {} }, { depth: 4, background: [0, 0, 0] })
    const opened = Object.values(palette).flatMap((attributes) => attributes.map(([open]) => String(open)))
    assert.deepEqual(
      opened.filter((open) => /^(4\d|10\d|48)/.test(open) && open !== '4'),
      [],
      theme,
    )
  }
  const own = makePalette(
    { theme: 'ansi', colors: { 'user-background': 'blue', accent: 'bright-red' } },
    { depth: 4 },
  )
  assert.deepEqual(own['user-background'], [[44, 49]])
  assert.deepEqual(own.accent, [[91, 39]])
  assert.deepEqual(own.heading, [
    [1, 22],
    [91, 39],
  ])
})

test('makePalette() takes any role from the user', () => {
  for (const role of COLOR_ROLES) {
    const palette = makePalette({ theme: 'ansi', colors: { [role]: '#123456' } }, { depth: 24 })
    assert.ok(JSON.stringify(palette).includes('8;2;18;52;86'), role)
  }
})

test('colors become the nearest that the terminal shows', () => {
  assert.equal(toForeground([255, 0, 0], 24), '38;2;255;0;0')
  assert.equal(toForeground([255, 0, 0], 8), '38;5;196')
  assert.equal(toForeground([255, 0, 0], 4), '91')
  assert.equal(toBackground([8, 8, 8], 8), '48;5;232')
  assert.equal(toBackground([8, 8, 8], 4), undefined)
})

test('colors are parsed, mixed and told apart by their lightness', () => {
  assert.deepEqual(parseHexColor('#0a10ff'), [10, 16, 255])
  assert.deepEqual(mixColors([0, 0, 0], [255, 255, 255], 0.5), [128, 128, 128])
  assert.deepEqual([isLightColor([255, 255, 255]), isLightColor([30, 30, 46])], [true, false])
})
