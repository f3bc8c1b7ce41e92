import { THEMES, type ThemeName } from '../../core/base/chat-settings.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { newPicker } from '../overlays/picker.ts'
import { changeSetting } from './change-setting.ts'
import { hint, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/theme`: shows the themes, each as it looks while it is selected; `/theme NAME` chooses one. */
export async function slashTheme(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  if (args === '') return showThemes(context)
  const theme = THEMES.find((name) => name === args)
  if (theme) return await chooseTheme(theme, context, signal)
  printNotice(
    context,
    'warning',
    `Unknown theme ${args}`,
    didYouMean(args, THEMES) ?? `choose one of ${THEMES.join(', ')}`,
  )
}

/** Opens the picker of themes. */
export function showThemes(context: SlashContext): void {
  const { settings, terminalColors } = context.state()
  const items = THEMES.map((theme) => ({
    value: theme,
    label: theme,
    detail: theme === 'auto' ? describeAuto(terminalColors.isLight) : SUMMARIES[theme],
    isCurrent: theme === settings.theme,
  }))
  showOverlay(context, newPicker({ picker: 'theme', title: 'Theme', items, hasSample: true }))
}

/** Writes the theme into config.toml. */
export async function chooseTheme(theme: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  await changeSetting(['theme'], theme === 'auto' ? undefined : theme, context, signal)
  hint(context, `Theme: ${theme} (saved in config.toml)`)
}

function describeAuto(isLight: boolean | undefined): string {
  if (isLight === undefined) return 'colors of the terminal; its background is not known'
  return `colors of the terminal, which has a ${isLight ? 'light' : 'dark'} background`
}

const SUMMARIES: Readonly<Record<Exclude<ThemeName, 'auto'>, string>> = {
  light: 'for a light background',
  dark: 'for a dark background',
  'high-contrast': 'bright colors, nothing dim',
  ansi: 'the 16 colors of the terminal',
  none: 'without colors',
}
