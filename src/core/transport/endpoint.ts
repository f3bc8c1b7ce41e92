/** An address that a daemon listens on. */
export type SocketEndpoint =
  | { kind: 'unix'; path: string }
  /** A Windows named pipe. */
  | { kind: 'pipe'; path: string }
  | { kind: 'tcp'; host: string; port: number }

/** Formats an endpoint for messages: `unix:/home/ann/.crabtalk/run/crabtalk.sock`, `tcp:127.0.0.1:6688`. */
export function formatEndpoint(endpoint: SocketEndpoint): string {
  if (endpoint.kind !== 'tcp') return `${endpoint.kind}:${endpoint.path}`
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host
  return `tcp:${host}:${endpoint.port}`
}
