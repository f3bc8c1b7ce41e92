/**
 * Completes an address without a scheme: http for a port, this machine or an IP address, https for any other name with
 * a dot. Text that is not an address stays as it is.
 */
export function completeAddress(text: string): string {
  const typed = text.trim()
  const [, host = '', port] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d+))?(?:\/\S*)?$/i.exec(typed) ?? []
  const isLocal = port !== undefined || host === 'localhost' || /^\d[\d.]*$|^\[/.test(host)
  if (host === '' || (!isLocal && !/\w\.\w/.test(host))) return typed
  return `${isLocal ? 'http' : 'https'}://${typed}`
}

/** Whether a text is an http address once it is completed. */
export function isServerAddress(text: string): boolean {
  return parseHttpUrl(completeAddress(text)) !== undefined
}

/** Parses an absolute URL; undefined unless its scheme is http or https. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}
