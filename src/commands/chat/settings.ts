import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { DEFAULT_CHAT_SETTINGS } from '../../core/base/chat-settings.ts'
import { makePrivateDir } from '../../core/base/files.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import type { SettingsPort, SettingsResult } from '../../tui/ports.ts'

/** The settings of the chat in the config.toml of the home. A file without a `[tui]` table is only read. */
export function openSettings(host: Host): SettingsPort {
  const paths = resolvePaths(host)
  return {
    async read() {
      const text = await readTextFile(paths.config)
      if (text === undefined || !/\btui\b/.test(text)) return NO_SETTINGS
      return (await import('./read-settings.ts')).parseSettings(basename(paths.config), text)
    },
    async write(path, value, signal) {
      const { writeConfigKey } = await import('../config/write-key.ts')
      await writeConfigKey({ path: ['tui', ...path], value }, host, signal)
    },
    watch(listener) {
      return watchFile(paths.config, listener)
    },
  }
}

const NO_SETTINGS: SettingsResult = { settings: DEFAULT_CHAT_SETTINGS, problems: [] }

/** Watches the folder, because editors and this program replace the file. */
function watchFile(path: string, listener: () => void): Disposable {
  const stop = new AbortController()
  const start = () => {
    if (stop.signal.aborted) return
    const watcher = watch(dirname(path), { persistent: false, signal: stop.signal }, (_event, file) => {
      if (file === null || file === basename(path)) listener()
    })
    watcher.on('error', () => watcher.close()) // the next start of the chat reads the file
    listener() // the file may have changed since it was read
  }
  makePrivateDir(dirname(path))
    .then(start)
    .catch(() => undefined) // a home that cannot be written has no changes
  return { [Symbol.dispose]: () => stop.abort() }
}
