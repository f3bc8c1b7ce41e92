import { useEffect, useState } from 'react'

/** Redraws the component once a second while something runs; otherwise no timer is set. */
export function useClock(isRunning: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => tick((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [isRunning])
}
