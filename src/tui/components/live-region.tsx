import { Box, Text, useCursor } from 'ink'
import type { ReactNode } from 'react'
import { fitSections, type Section } from '../view/section.ts'

/**
 * The part of the screen that is redrawn on every change. It is always lower than the terminal: Ink clears
 * the screen for a frame as high as the terminal.
 */
export function LiveRegion({ sections, rows }: { sections: readonly Section[]; rows: number }): ReactNode {
  const { setCursorPosition } = useCursor()
  const { lines, caret } = fitSections(sections, rows - 1)
  setCursorPosition(caret)
  return (
    <Box flexDirection="column">
      {lines.length > 0 && <Text wrap="truncate">{lines.map((line) => line || ' ').join('\n')}</Text>}
    </Box>
  )
}
