import { createHash } from 'node:crypto'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTarGz } from '../../scripts/release/tar.ts'
import { VERSION } from '../../src/core/base/version.ts'
import { scriptProgram } from './script-program.ts'

const INSTALLER = join(import.meta.dirname, '../../packaging/install.sh')
/** A stand-in for the program that prints its version, which is all that an installer uses. */
const PROGRAM = scriptProgram(VERSION)

/** Writes a release for this machine with the files that users download: installer, archive and checksums. */
export async function writeRelease(folder: string): Promise<void> {
  const name = `crabtalk-${VERSION}-${process.platform}-${process.arch}`
  const archive = makeTarGz([
    { path: `${name}/bin/crabtalk`, bytes: Buffer.from(PROGRAM), executable: true },
    { path: `${name}/bin/crabup`, link: 'crabtalk' },
  ])
  const sum = createHash('sha256').update(archive).digest('hex')
  await mkdir(folder, { recursive: true })
  await copyFile(INSTALLER, join(folder, 'install.sh'))
  await writeFile(join(folder, `${name}.tar.gz`), archive)
  await writeFile(join(folder, 'SHA256SUMS'), `${sum}  ${name}.tar.gz\n`)
}
