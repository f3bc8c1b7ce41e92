import { DISCOVERY } from '../../core/config/component.ts'
import { McpPeer, McpPeerState, McpServerView } from '../../core/protocol/crabtalk.generated.ts'
import type { MissingComponent } from './components.ts'

/** Components that an agent asks for in vain, as failed servers of it. */
export function toMissingServers(missing: readonly MissingComponent[]): McpServerView[] {
  return missing.map(({ name, file, problem }) => {
    return {
      ...McpServerView.create(),
      name,
      source: file,
      state: McpPeerState.FAILED,
      error: sentence(file, problem),
    }
  })
}

/** Port files that are none, as connections that failed. */
export function toBrokenPeers(broken: readonly MissingComponent[]): McpPeer[] {
  return broken.map(({ name, file, problem }) => {
    const owners = [{ agent: DISCOVERY.name, name }]
    const target = { fingerprint: file, transport: 'http', target: file }
    return {
      ...McpPeer.create(),
      ...target,
      owners,
      state: McpPeerState.FAILED,
      error: sentence(file, problem),
    }
  })
}

function sentence(file: string, problem: string): string {
  return `${file}: ${problem}`
}
