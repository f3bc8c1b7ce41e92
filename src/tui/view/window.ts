/** Rows of a list that are shown: from `start` to before `end`. */
export interface Window {
  start: number
  end: number
}

/** Which of so many rows are shown in a window, scrolled no further than the last of them. */
export function scrollWindow(total: number, height: number, scroll: number): Window {
  const start = Math.max(0, Math.min(scroll, total - height))
  return { start, end: Math.min(total, start + Math.max(0, height)) }
}

/** Which of so many rows are shown, the selected one among them, in the middle where that is possible. */
export function windowAround(total: number, height: number, selected: number): Window {
  return scrollWindow(total, height, selected - Math.floor(height / 2))
}
