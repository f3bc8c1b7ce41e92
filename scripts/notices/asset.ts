import { constants, zstdCompressSync } from 'node:zlib'
import type { Notices } from '../../src/cli/host.ts'
import { type Component, inOrder } from './component.ts'
import type { Product } from './sbom.ts'

/** Packs what `crabtalk licenses` prints, the program's own license first, for unpackNotices(). */
export function makeNoticesAsset(
  { name, version, license }: Product,
  ownText: string,
  components: readonly Component[],
): Buffer {
  const own: Component = {
    name,
    version,
    license,
    purl: `pkg:npm/${name}@${version}`,
    type: 'application',
    texts: [ownText],
  }
  const all = [own, ...inOrder(components)]
  const texts = [...new Set(all.flatMap((component) => component.texts))]
  const notices: Notices = {
    components: all.map((component) => ({
      name: component.name,
      version: component.version,
      license: component.license,
      purl: component.purl,
      texts: component.texts.map((text) => texts.indexOf(text)),
    })),
    texts,
  }
  const level = { [constants.ZSTD_c_compressionLevel]: 19 }
  return zstdCompressSync(JSON.stringify(notices), { params: level })
}
