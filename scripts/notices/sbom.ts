import { createHash } from 'node:crypto'
import type { Component } from './component.ts'

/** The subject of an SBOM. */
export interface Product {
  name: string
  version: string
  license: string
  description: string
}

/**
 * Renders a CycloneDX 1.6 bill of materials. The same components give the same bytes: the serial number comes from the
 * content, and there is a time only where SOURCE_DATE_EPOCH sets one.
 */
export function renderSbom(
  product: Product,
  components: readonly Component[],
  epoch = process.env['SOURCE_DATE_EPOCH'],
): string {
  const root = `pkg:npm/${product.name}@${product.version}`
  const body = {
    metadata: {
      ...(epoch && { timestamp: new Date(Number(epoch) * 1000).toISOString() }),
      tools: {
        components: [{ type: 'application', name: `${product.name}-build`, version: product.version }],
      },
      component: {
        type: 'application',
        'bom-ref': root,
        name: product.name,
        version: product.version,
        description: product.description,
        licenses: toLicenses(product.license),
        purl: root,
      },
    },
    components: components.map(toComponent),
    dependencies: [{ ref: root, dependsOn: components.map(({ purl }) => purl) }],
  }
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${toUuid(JSON.stringify(body))}`,
    version: 1,
    ...body,
  }
  return `${JSON.stringify(sbom, undefined, 2)}\n`
}

function toComponent({ type, name, version, license, purl, hash, cpe }: Component): object {
  return {
    type,
    'bom-ref': purl,
    ...splitScope(name),
    version,
    ...(hash && { hashes: [hash] }),
    licenses: toLicenses(license),
    ...(cpe && { cpe }),
    purl,
  }
}

/** Splits a name as CycloneDX does, which separates the scope of an npm package. */
function splitScope(full: string): { group?: string; name: string } {
  const [name, group] = full.split('/').toReversed()
  return { ...(group !== undefined && { group }), name: name! }
}

function toLicenses(license: string): object[] {
  return [/^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }]
}

/** Derives a version 8 UUID (RFC 9562) from the SHA-256 of a text. */
function toUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
