import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Component, inOrder } from './component.ts'
import { renderNotices } from './render.ts'
import { type Product, renderSbom } from './sbom.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The names of the files that every archive and package has. */
export const NOTICE_FILES = ['THIRD-PARTY-NOTICES', 'sbom.cdx.json'] as const

/** Writes both files of a product into a folder. */
export async function writeNotices(
  folder: string,
  product: Product,
  components: readonly Component[],
): Promise<void> {
  const sorted = inOrder(components)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, NOTICE_FILES[0]), renderNotices(product.name, sorted))
  await writeFile(join(folder, NOTICE_FILES[1]), renderSbom(product, sorted))
}

/** Returns the program itself as a product. */
export async function ownProduct(): Promise<Product> {
  return toProduct(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')))
}

/** Takes what an SBOM says of a product from its package.json. */
export function toProduct({ name, version, license, description }: Product): Product {
  return { name, version, license, description }
}
