import { Box, Text, useCursor } from 'ink'
import type { ReactNode } from 'react'
import { fitSections, type Section } from '../view/section.ts'

/**
 * The part of the screen that is drawn again and again. It is never as high as the terminal: a frame that is makes Ink
 * clear the screen.
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
