import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { type Config, EMPTY_CONFIG, toConfig } from './config.ts'
import { refuseForeignHome } from './foreign-home.ts'
import type { HomePaths } from './paths.ts'
import { parseToml } from './toml.ts'
import { configError, type Result } from './validation-issue.ts'

/**
 * Loads the configuration of a home; a missing file is an empty configuration.
 *
 * Throws `config` with every problem of the file, or when the home belongs to the Rust implementation; throws
 * `storage` when the file cannot be read.
 */
export async function loadConfig(paths: HomePaths): Promise<Config> {
  const [outcome] = await Promise.all([readConfig(paths), refuseForeignHome(paths)])
  if (outcome.ok) return outcome.value
  throw configError(outcome.problems)
}

/** Like loadConfig(), but returns the problems of the file, and does not check whose home it is. */
export async function readConfig({ config }: Pick<HomePaths, 'config'>): Promise<Result<Config>> {
  const text = await readTextFile(config)
  if (text === undefined) return { ok: true, value: EMPTY_CONFIG }
  const document = parseToml(basename(config), text)
  return document.ok ? toConfig(document.value) : document
}

/** Reads a text file; undefined when it does not exist. Throws `storage`. */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (reason) {
    if (isMissingFile(reason)) return undefined
    throw toStorageError(`Cannot read ${path}`, reason)
  }
}
