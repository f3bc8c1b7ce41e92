/**
 * In the place of what the MCP SDK imports under this name: what it says of Node, without its validator of JSON Schema.
 * That is 150 KB to compile schemas that servers write, and src/mcp gives the SDK another.
 */
export const CORS_IS_POSSIBLE = false

/** Of the server: its standard streams, where nobody gives it others. */
export const { process } = globalThis

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error('The MCP SDK has no validator of its own in this build')
  }
}
