import type { Host } from '../../cli/host.ts'
import { pluralize } from '../../core/base/format.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { describeNeeds, findTemplate } from '../../edge/catalog/catalog.ts'
import { type PlannedServer, planInstallation, refuseTakenName } from '../../edge/catalog/install.ts'
import { describeTarget } from '../../mcp/entry-facts.ts'
import type { CatalogPort } from '../../tui/ports.ts'
import { findAvailable, findInstallPlaces, openCatalog } from '../mcp/catalog-home.ts'
import { readServers } from '../mcp/servers.ts'

/** Opens the catalog for a chat; `cwd` returns its directory. */
export function openCatalogPort(host: Host, dispatch: Dispatch, cwd: () => string): CatalogPort {
  const plan = async (id: string, agent: string, signal: AbortSignal): Promise<PlannedServer> => {
    const template = findTemplate(await openCatalog(host), id)
    refuseTakenName(agent, await readEntries(dispatch, agent, signal), id)
    return planInstallation(template, {
      agent,
      values: new Map(),
      places: await findInstallPlaces(host, cwd()),
      available: await findAvailable(template, host),
    })
  }
  return {
    async list(agent, signal) {
      const { templates } = await openCatalog(host)
      const entries = await readEntries(dispatch, agent, signal)
      const installed = new Set(entries.map(({ origin }) => origin?.['catalog']))
      return templates.map((template) => {
        const { id, description } = template
        const needs = describeNeeds(template)
        const detail = needs === '-' ? description : `${description} · needs ${needs}`
        return { id, detail, isInstalled: installed.has(id) }
      })
    },
    async plan(id, agent, signal) {
      const { entry, status } = await plan(id, agent, signal)
      return { target: describeTarget(entry), isReady: status === 'ready' }
    },
    async install(id, agent, signal) {
      const { entry, status, missing } = await plan(id, agent, signal)
      const verify = status === 'ready'
      const message = { agent, config: JSON.stringify(entry), verify, create: true }
      const { toolCount } = await request(dispatch, 'upsertMcp', message, signal)
      const text = verify
        ? `Installed ${id}: ${pluralize(toolCount, 'tool')}`
        : `Installed ${id}, which cannot be used yet`
      return { text, steps: missing.map(({ command }) => command) }
    },
  }
}

async function readEntries(dispatch: Dispatch, agent: string, signal: AbortSignal): Promise<McpEntry[]> {
  return (await readServers(dispatch, agent, signal)).map(({ entry }) => entry)
}
