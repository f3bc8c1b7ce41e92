import { DISCOVERY } from '../../core/config/component.ts'
import { McpPeer, McpPeerState, McpServerView } from '../../core/protocol/crabtalk.generated.ts'
import type { MissingComponent } from './components.ts'

/** Converts the missing components of an agent to failed servers. */
export function toMissingServers(missing: readonly MissingComponent[]): McpServerView[] {
  return missing.map(({ name, file, problem }) => {
    return {
      ...McpServerView.create(),
      name,
      source: file,
      state: McpPeerState.FAILED,
      error: formatProblem(file, problem),
    }
  })
}

/** Converts invalid port files to failed connections. */
export function toBrokenPeers(broken: readonly MissingComponent[]): McpPeer[] {
  return broken.map(({ name, file, problem }) => {
    const owners = [{ agent: DISCOVERY.name, name }]
    const target = { fingerprint: file, transport: 'http', target: file }
    return {
      ...McpPeer.create(),
      ...target,
      owners,
      state: McpPeerState.FAILED,
      error: formatProblem(file, problem),
    }
  })
}

function formatProblem(file: string, problem: string): string {
  return `${file}: ${problem}`
}
