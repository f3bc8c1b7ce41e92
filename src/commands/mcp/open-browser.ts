import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { startDetached } from '../../core/process/start-detached.ts'

/** The parts of a host that open a browser. */
export type BrowserHost = Pick<Host, 'env' | 'homeDir' | 'cwd'>

/** Whether a browser can be opened here: not over SSH, and on Linux only with a display. */
export function hasBrowser({ env }: Pick<BrowserHost, 'env'>, platform: NodeJS.Platform): boolean {
  if (env['BROWSER']) return true
  if (env['SSH_CONNECTION']) return false
  return platform === 'darwin' || platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}

/** Opens an address in the user's browser; returns whether its program could be started. */
export async function openBrowser(
  address: string,
  host: BrowserHost,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const argv = BROWSERS[platform] ?? ['xdg-open']
  try {
    const { env, homeDir } = host
    await startDetached({ argv: [argv[0]!, ...argv.slice(1), address], cwd: homeDir || host.cwd(), env })
    return true
  } catch (reason) {
    if (reason instanceof CrabError) return false // the address was printed as well
    throw reason
  }
}

const BROWSERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
