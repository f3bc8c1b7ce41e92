import type { Plugin } from 'esbuild'

/**
 * Bundles the HTTP transports of the MCP SDK separately. The SDK has them in one module with its client,
 * which every server needs, but only remote servers need the transports. For the one file of ours that
 * imports them, the SDK and its event parser are resolved to modules of their own. Plugins that load modules
 * pass `pluginData` on to their imports.
 */
export const mcpTransports: Plugin = {
  name: 'mcp-transports',
  setup(build) {
    build.onResolve({ filter: FOR_EVENTS }, async ({ path, pluginData, ...args }) => {
      if (pluginData === RESOLVING || (pluginData !== OWN && !USER.test(args.importer))) return undefined
      const { resolveDir, kind, importer } = args
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData: RESOLVING })
      return { path: found.path, suffix: '?transports', sideEffects: found.sideEffects, pluginData: OWN }
    })
  },
}

const FOR_EVENTS = /^(@modelcontextprotocol\/client|eventsource|eventsource-parser(\/stream)?)$/
const USER = /[\\/]src[\\/]mcp[\\/]remote[\\/]sdk-transports\.ts$/
const RESOLVING = 'asked by this plugin'
const OWN = 'imported for transports'
