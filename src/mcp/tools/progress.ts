import type { ToolDispatch } from '../../core/runtime/hook.ts'
import type { OnProgress } from '../connection/request-clock.ts'
import { toPrintableLine } from './remote-tool.ts'

/** Passes a call's progress on, at most once in 100 ms; disposing tells the last of it, if that was not told. */
export function throttledProgress(tell: ToolDispatch['progress']): { onProgress: OnProgress } & Disposable {
  let waiting: Parameters<OnProgress>[0] | undefined
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    if (!waiting) return
    const { message, progress, total } = waiting
    waiting = undefined
    timer = setTimeout(flush, INTERVAL_MS).unref()
    const words =
      toPrintableLine(message ?? '') || (total === undefined ? `${progress}` : `${progress} of ${total}`)
    tell({ message: words, progress, ...(total !== undefined && { total }) })
  }
  return {
    onProgress(report) {
      waiting = report
      if (!timer) flush()
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      flush()
      clearTimeout(timer)
    },
  }
}

const INTERVAL_MS = 100
