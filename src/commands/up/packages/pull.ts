import type { CommandHandler } from '../../../cli/command.ts'
import { pullComponent } from '../../../up/packages/components.ts'
import { findBuiltIn, parsePackageSpec } from '../../../up/packages/package-spec.ts'
import type { PullResult } from '../../../up/packages/ports.ts'
import { openPackagePorts, printLastLogLines } from './package-ports.ts'

/** `crabup pull`: installs a component, or another version of it. */
export const pullCommand: CommandHandler = async ({ options, host, commands, signal }) => {
  const [word = ''] = options.args
  const builtIn = findBuiltIn(word)
  if (builtIn) {
    host.stdout.write(`${word} is built in; crabup self update updates it\n`)
    return 0
  }
  const spec = await parsePackageSpec(word, options.value('version'), {
    cwd: host.cwd(),
    homeDir: host.homeDir,
  })
  await using open = await openPackagePorts({ host, options, commands, signal })
  try {
    const result = await pullComponent(spec, open.ports, open.signal)
    open.status.clear()
    host.stdout.write(`${pullResultText(result)}\n`)
    if (result.before === undefined && host.stderr.isTerminal) {
      await host.stdout.flush()
      host.stderr.write(
        `To give an agent its tools, write in the agent's file: components = ["${result.name}"]\n`,
      )
    }
    return 0
  } catch (reason) {
    open.status.clear()
    printLastLogLines(host, reason)
    throw reason
  }
}

/** Describes the result, such as `installed echo 1.2.0 (was 1.1.0); the service now runs it`. */
export function pullResultText({ name, version, before, isSame, wasRestarted }: PullResult): string {
  if (isSame)
    return `${name} ${version} is already installed${wasRestarted ? '; the service runs it again' : ''}`
  const was = before === undefined ? '' : ` (was ${before})`
  const next = wasRestarted
    ? 'the service now runs it'
    : before === undefined
      ? `crabup ${name} start runs it`
      : 'the service is not running'
  return `installed ${name} ${version}${was}; ${next}`
}
