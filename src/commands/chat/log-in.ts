import { platform } from 'node:os'
import type { Host } from '../../cli/host.ts'
import { pluralize } from '../../core/base/format.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { logIn } from '../../edge/oauth/log-in.ts'
import type { ServerLogin } from '../../tui/server-ports.ts'
import { openLoginHome } from '../mcp/login-home.ts'
import {
  applyLogin,
  findLoginTarget,
  refuseOtherCredentials,
  toConfiguredLogin,
} from '../mcp/login-target.ts'
import { hasBrowser, openBrowser } from '../mcp/open-browser.ts'

/** Logs in to a server for a chat, and connects it. Returns the result as a sentence. Throws as `crabtalk mcp login`. */
export async function logInFromChat(
  { host, dispatch, cwd }: { host: Host; dispatch: Dispatch; cwd: string },
  { agent, name, ask }: ServerLogin,
  signal: AbortSignal,
): Promise<string> {
  const target = await findLoginTarget(dispatch, { word: name, agent, host, cwd }, signal)
  const { entry } = target
  if (entry) refuseOtherCredentials(entry)
  let keySource: string | undefined
  {
    await using home = await openLoginHome(host, {
      onVault: (source) => {
        keySource = source
      },
    })
    const show = async (address: string, until: AbortSignal) => {
      const isOpen = hasBrowser(host, platform()) && (await openBrowser(address, host, platform()))
      return await ask({ address, isOpen }, until)
    }
    await logIn({ ...toConfiguredLogin(target), grant: 'user', ask: show }, home, signal)
  }
  const tools = entry && (await applyLogin(dispatch, { entry, agent }, signal))
  const what = tools === undefined ? 'the next message uses it' : pluralize(tools, 'tool')
  const vault = keySource === undefined ? '' : ` (created the vault; the source of its key: ${keySource})`
  return `Logged in to ${name}: ${what}${vault}`
}
