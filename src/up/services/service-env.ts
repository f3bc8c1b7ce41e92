import { basename } from 'node:path'
import { envFileProblems, parseVariables, variableLine } from '../../core/config/env-file-text.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { FileIssue } from '../../core/config/validation-issue.ts'
import { readEnvFileSync } from '../supervisor/environment.ts'

/**
 * Finds the issues in service.env, including variables that override crabup's own: PATH, and CRABTALK_HOME,
 * which would make a service use another home. Throws `storage` when the file cannot be read.
 */
export async function serviceEnvProblems(paths: HomePaths): Promise<FileIssue[]> {
  const path = paths.serviceEnv
  const file = basename(path)
  const text = (await readTextFile(path)) ?? ''
  const values = parseVariables(text)
  const overrides = ['PATH', 'CRABTALK_HOME'].flatMap((key) => {
    const line = variableLine(text, key)
    const isUsual = values[key] === (key === 'PATH' ? undefined : paths.home)
    return line === undefined || isUsual
      ? []
      : [{ file, line, column: undefined, key, ...describeOverride(key, values) }]
  })
  return [...envFileProblems(text, file), ...overrides].toSorted((one, other) => one.line - other.line)
}

/** Explains the effect of overriding a variable that crabup sets. */
function describeOverride(
  key: string,
  values: Readonly<Record<string, string>>,
): Pick<FileIssue, 'message' | 'hint'> {
  if (key === 'CRABTALK_HOME') {
    return {
      message: 'CRABTALK_HOME would move services to another home, and each home has its own services',
      hint: 'remove the line, and set CRABTALK_HOME where you run crabup',
    }
  }
  return values[key]?.includes('$')
    ? { message: 'PATH contains a $, which is not expanded', hint: 'write out every directory' }
    : { message: 'services have this PATH instead of that of the shell', hint: undefined }
}

/** Reads the variables of service.env; none when it cannot be read. */
export function readServiceEnv(paths: Pick<HomePaths, 'serviceEnv'>): Readonly<Record<string, string>> {
  return readEnvFileSync(paths.serviceEnv)
}
