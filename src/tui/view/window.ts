/** The visible rows of a list, from `start` up to but not including `end`. */
export interface Window {
  start: number
  end: number
}

/** Returns the visible rows at a scroll position, which is limited so that the last row ends the window. */
export function scrollWindow(total: number, height: number, scroll: number): Window {
  const start = Math.max(0, Math.min(scroll, total - height))
  return { start, end: Math.min(total, start + Math.max(0, height)) }
}

/** Returns the visible rows with the selected one in the middle where possible. */
export function windowAround(total: number, height: number, selected: number): Window {
  return scrollWindow(total, height, selected - Math.floor(height / 2))
}
