/** Returns the tool names under which permission rules cover reading a server's resources. */
export function toReadRuleNames(server: string): { name: string; remoteName: string } {
  return { name: `mcp__${server}__resources_read`, remoteName: 'resources/read' }
}
