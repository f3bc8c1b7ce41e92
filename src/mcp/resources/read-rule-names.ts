/** What rules say of reading a server's resources: as of a tool of this name. */
export function toReadRuleNames(server: string): { name: string; remoteName: string } {
  return { name: `mcp__${server}__resources_read`, remoteName: 'resources/read' }
}
