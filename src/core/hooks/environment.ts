import { arch, platform } from 'node:os'
import { wrapInTag } from '../base/wrap-text.ts'
import type { Hook } from '../runtime/hook.ts'

/** Tells the model where it works: system, shell, folder and day. */
export function environmentHook(options: { shell: string | undefined; now(): number }): Hook {
  return {
    async context(cwd) {
      const lines = [`os: ${platform()} ${arch()}`]
      if (options.shell) lines.push(`shell: ${options.shell}`)
      lines.push(`cwd: ${cwd.replaceAll(/[\r\n]/g, ' ')}`, `date: ${toLocalDay(new Date(options.now()))}`)
      return wrapInTag('environment', {}, lines.join('\n'))
    },
  }
}

/** What a person here calls today, as ISO 8601. */
function toLocalDay(time: Date): string {
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}
