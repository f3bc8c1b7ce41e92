import { arch, platform } from 'node:os'
import { toLocalDay } from '../base/format.ts'
import { wrapInTag } from '../base/wrap-text.ts'
import type { Hook } from '../runtime/hook.ts'

/** Adds the environment to the system prompt: operating system, shell, working directory and date. */
export function environmentHook(options: { shell: string | undefined; now(): number }): Hook {
  return {
    async context(cwd, { roots = [] }) {
      const lines = [`os: ${platform()} ${arch()}`]
      if (options.shell) lines.push(`shell: ${options.shell}`)
      lines.push(`cwd: ${toLine(cwd)}`)
      if (roots.length > 0) lines.push(`additional directories: ${roots.map(toLine).join(', ')}`)
      lines.push(`date: ${toLocalDay(new Date(options.now()))}`)
      return wrapInTag('environment', {}, lines.join('\n'))
    },
  }
}

function toLine(path: string): string {
  return path.replaceAll(/[\r\n]/g, ' ')
}
