/**
 * Replaces the MCP SDK's shims for Node, without its JSON Schema validator. That is 150 KB for compiling the
 * schemas of servers, and src/mcp passes the SDK another one.
 */
export const CORS_IS_POSSIBLE = false

/** The default of the server's standard streams. */
export const { process } = globalThis

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error('The MCP SDK has no validator of its own in this build')
  }
}
