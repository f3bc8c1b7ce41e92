import type { Pulled } from '../../../up/packages/ports.ts'
import { pull as pullPackage } from '../../../up/packages/pull.ts'
import { builtInNamed, readWanted } from '../../../up/packages/wanted.ts'
import type { Run } from '../../command.ts'
import { openPorts, tellLastWords } from './package-ports.ts'

/** `crabup pull`: installs a component, or another version of one. */
export const pull: Run = async ({ options, host, commands, signal }) => {
  const [word = ''] = options.args
  const builtIn = builtInNamed(word)
  if (builtIn) {
    host.stdout.write(`${word} is built in; crabup self update updates it\n`)
    return 0
  }
  const wanted = await readWanted(word, options.value('version'), { cwd: host.cwd(), homeDir: host.homeDir })
  await using open = await openPorts({ host, options, commands, signal })
  try {
    const pulled = await pullPackage(wanted, open.ports, open.signal)
    open.status.clear()
    host.stdout.write(`${pulledText(pulled)}\n`)
    if (pulled.before === undefined && host.stderr.isTerminal) {
      await host.stdout.flush()
      host.stderr.write(`Agents have its tools when their file says components = ["${pulled.name}"]\n`)
    }
    return 0
  } catch (reason) {
    open.status.clear()
    tellLastWords(host, reason)
    throw reason
  }
}

/** `installed echo 1.2.0 (was 1.1.0); it runs with it already`. */
export function pulledText({ name, version, before, isSame, wasRestarted }: Pulled): string {
  if (isSame) return `${name} ${version} is installed already${wasRestarted ? '; it runs with it again' : ''}`
  const was = before === undefined ? '' : ` (was ${before})`
  const next = wasRestarted
    ? 'it runs with it already'
    : before === undefined
      ? `crabup ${name} start runs it`
      : 'it does not run'
  return `installed ${name} ${version}${was}; ${next}`
}
