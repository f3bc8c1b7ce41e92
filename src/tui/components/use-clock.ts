import { useEffect, useState } from 'react'

/** Draws the component again once a second while something runs; nothing ticks otherwise. */
export function useClock(isRunning: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => tick((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [isRunning])
}
