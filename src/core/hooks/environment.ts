import { arch, platform } from 'node:os'
import type { Hook } from '../runtime/hook.ts'

/** Tells the model where it works: system, shell, folder and day. */
export function environmentHook(options: { shell: string | undefined; now(): number }): Hook {
  return {
    async context(cwd) {
      const lines = [`os: ${platform()} ${arch()}`]
      if (options.shell) lines.push(`shell: ${options.shell}`)
      lines.push(`cwd: ${cwd}`, `date: ${new Date(options.now()).toISOString().slice(0, 10)}`)
      return `<environment>\n${lines.join('\n')}\n</environment>`
    },
  }
}
