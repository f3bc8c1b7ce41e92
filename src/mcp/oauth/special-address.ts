import { BlockList, isIP } from 'node:net'

/** Returns what makes an IP address special, such as `private`; undefined for one on the public internet. */
export function describeSpecialAddress(address: string): string | undefined {
  const family = isIP(address)
  if (family === 0) return 'invalid'
  const bare = address.replace(/%.*$/, '')
  if (family === 4) return findRange(IPV4, bare, 'ipv4')
  const translated = readTranslated(bare)
  return translated === undefined ? findRange(IPV6, bare, 'ipv6') : findRange(IPV4, translated, 'ipv4')
}

/** Returns the IP address that a host of a URL is, without brackets; undefined for a name. */
export function readLiteralAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}

/** Whether a host of a URL is this machine, by its name or its address. */
export function isLoopbackHost(hostname: string): boolean {
  const address = readLiteralAddress(hostname)
  if (address === undefined) return /^(?:.+\.)?localhost\.?$/i.test(hostname)
  return describeSpecialAddress(address) === 'loopback'
}

/**
 * Returns the address of version 4 that a network without version 4 translates this one to (RFC 6052). Resolvers
 * of such networks give these for every host.
 */
function readTranslated(address: string): string | undefined {
  if (!NAT64.check(address, 'ipv6')) return undefined
  const { hostname } = new URL(`http://[${address}]`)
  const [low = '0', high = '0'] = hostname.slice(1, -1).split(':').toReversed()
  const bits = (Number.parseInt(high || '0', 16) << 16) | Number.parseInt(low || '0', 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

function findRange(ranges: readonly Range[], address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return ranges.find(({ list }) => list.check(address, family))?.name
}

interface Range {
  name: string
  list: BlockList
}

function newRange(name: string, family: 'ipv4' | 'ipv6', ...networks: readonly string[]): Range {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return { name, list }
}

/** The ranges of the IANA special-purpose registries, RFC 6890. */
const IPV4 = [
  newRange('loopback', 'ipv4', '127.0.0.0/8'),
  newRange('private', 'ipv4', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'),
  newRange('link-local', 'ipv4', '169.254.0.0/16'),
  newRange('reserved', 'ipv4', '0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24'),
  newRange('reserved', 'ipv4', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'),
]
/** An address that holds one of version 4 has no use on the internet except to avoid the ranges above. */
const IPV6 = [
  newRange('loopback', 'ipv6', '::1/128'),
  newRange('mapped', 'ipv6', '::/96', '::ffff:0:0/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'),
  newRange('private', 'ipv6', 'fc00::/7', 'fec0::/10'),
  newRange('link-local', 'ipv6', 'fe80::/10'),
  newRange('reserved', 'ipv6', '100::/64', '2001:db8::/32', 'ff00::/8'),
]
const NAT64 = newRange('nat64', 'ipv6', '64:ff9b::/96').list
