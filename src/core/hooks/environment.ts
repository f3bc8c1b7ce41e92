import { arch, platform } from 'node:os'
import { wrapInTag } from '../base/wrap-text.ts'
import type { Hook } from '../runtime/hook.ts'

/** Adds the environment to the system prompt: operating system, shell, working directory and date. */
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

/** Formats the local date as ISO 8601. */
function toLocalDay(time: Date): string {
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}
