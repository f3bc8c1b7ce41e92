import type { ToolDispatch } from '../../core/runtime/hook.ts'
import type { OnProgress } from '../connection/request-clock.ts'
import { toPrintableLine } from '../tools/server-text.ts'

/**
 * Throttles the progress of a call to one report in 100 ms; disposing reports the last one if it is still
 * pending.
 */
export function throttledProgress(send: ToolDispatch['progress']): { onProgress: OnProgress } & Disposable {
  let pending: Parameters<OnProgress>[0] | undefined
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    if (!pending) return
    const { message, progress, total } = pending
    pending = undefined
    timer = setTimeout(flush, INTERVAL_MS).unref()
    const words =
      toPrintableLine(message ?? '') || (total === undefined ? `${progress}` : `${progress} of ${total}`)
    send({ message: words, progress, ...(total !== undefined && { total }) })
  }
  return {
    onProgress(report) {
      pending = report
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
