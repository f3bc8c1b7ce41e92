import { copyFile, mkdir, mkdtempDisposable, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type HomePaths, homePaths } from '../../src/core/config/paths.ts'
import { until } from './until.ts'

/** A home directory of a test; removed when disposed. */
export interface TemporaryHome extends AsyncDisposable {
  readonly paths: HomePaths
  write(file: string, text: string): Promise<void>
  read(file: string): Promise<string>
  /** Copies a file with a later modification time. */
  copy(from: string, to: string): Promise<void>
}

/** Returns a home that does not exist yet, in an existing temporary directory. */
export async function temporaryHome(): Promise<TemporaryHome> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const paths = homePaths({ CRABTALK_HOME: 'home' }, { cwd: directory.path, homeDir: '' })
  return {
    paths,
    async write(file, text) {
      const path = join(paths.home, file)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    },
    async copy(from, to) {
      const [source, target] = [join(paths.home, from), join(paths.home, to)]
      await until('the copy is younger', async () => {
        await rm(target, { force: true })
        await copyFile(source, target)
        return (await stat(target)).birthtimeMs > (await stat(source)).birthtimeMs
      })
    },
    read: (file) => readFile(join(paths.home, file), 'utf8'),
    /** An operation that is still running at the end of a test may write once more. */
    [Symbol.asyncDispose]: () => rm(directory.path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
