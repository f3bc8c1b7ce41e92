import type { Plugin } from 'esbuild'

/**
 * The MCP SDK has what speaks HTTP in one module with its client, which all servers need. Only those that are reached by
 * their address need that part: for the one file of ours that asks for it, it is bundled from a module of its own, and so
 * is what it imports to read events. Whoever loads modules hands `pluginData` on to what they import.
 */
export const mcpTransports: Plugin = {
  name: 'mcp-transports',
  setup(build) {
    build.onResolve({ filter: FOR_EVENTS }, async ({ path, pluginData, ...asked }) => {
      if (pluginData === ASKED || (pluginData !== OWN && !USER.test(asked.importer))) return undefined
      const { resolveDir, kind, importer } = asked
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: ASKED })
      return { path: found.path, suffix: '?transports', sideEffects: found.sideEffects, pluginData: OWN }
    })
  },
}

const FOR_EVENTS = /^(@modelcontextprotocol\/client|eventsource|eventsource-parser(\/stream)?)$/
const USER = /[\\/]src[\\/]mcp[\\/]remote[\\/]sdk-transports\.ts$/
const ASKED = 'asked by this plugin'
const OWN = 'imported for transports'
