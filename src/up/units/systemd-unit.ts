import { toGuardLabel } from '../names.ts'
import type { ServiceSpec } from '../types.ts'
import { checkSpec, unitDescription, unitError } from './literal.ts'
import { SEAL, seal } from './seal.ts'
import { escapeSpecifiers, quoteUnitArgument, quoteUnitWord, toPattern } from './systemd-quoting.ts'

/**
 * The systemd user unit of a service (systemd 239 and newer; the decisions are in docs/decisions/0131-units.md).
 *
 * Restarts a program that crashed, but not one whose configuration is wrong (78). It pulls in the guard of its home. Fails
 * with `invalid` when a value cannot stand in a unit.
 */
export function systemdUnit(spec: ServiceSpec): string {
  return toUnit(spec, {
    unit: `StartLimitIntervalSec=300
StartLimitBurst=10
Wants=${unitName(toGuardLabel(spec.label))}`,
    end: `
[Install]
WantedBy=default.target
`,
  })
}

/** The systemd user unit of the guard of a home: it runs as long as a service of that home does. Fails as systemdUnit(). */
export function systemdGuardUnit(spec: ServiceSpec): string {
  return toUnit(spec, { unit: 'StopWhenUnneeded=yes', end: '' })
}

function toUnit(spec: ServiceSpec, { unit, end }: { unit: string; end: string }): string {
  checkSpec(spec)
  return seal(`# Written by crabup (${SEAL}), which writes it again when it has to.
# Your own settings belong in a drop-in: systemctl --user edit ${unitName(spec.label)}
[Unit]
Description=${escapeSpecifiers(unitDescription(spec))}
${unit}

[Service]
Type=exec
ExecStart=${toCommand(spec.argv)}
WorkingDirectory=${toDirectory(spec.cwd)}
${Object.entries(spec.env)
  .map(([name, value]) => `Environment=${quoteUnitWord(`${name}=${value}`)}\n`)
  .join('')}EnvironmentFile=-${toFile(spec, spec.envFile, toPattern)}
StandardOutput=append:${toFile(spec, spec.output, escapeSpecifiers)}
StandardError=inherit
Restart=on-failure
RestartSec=3
RestartPreventExitStatus=78
SuccessExitStatus=0 143
KillMode=mixed
TimeoutStopSec=30
OOMPolicy=continue
IgnoreSIGPIPE=no
LimitCORE=0:infinity
${end}`)
}

/** What systemd calls the unit of a label. */
export function unitName(label: string): string {
  return `${label}.service`
}

/** A program whose path has a quote or a backslash is refused by systemd, so that a shell takes its place for a moment. */
function toCommand([program, ...rest]: ServiceSpec['argv']): string {
  const args = rest.map(quoteUnitArgument)
  if (/["'\\]/.test(program)) {
    return ['/bin/sh', '-c', quoteUnitArgument('exec "$0" "$@"'), quoteUnitArgument(program), ...args].join(
      ' ',
    )
  }
  if (!program.includes('$')) return [quoteUnitWord(program), ...args].join(' ')
  return [`@${quoteUnitWord(program)}`, quoteUnitArgument(program), ...args].join(' ') // its own name is expanded, its path is not
}

/** White space or a backslash at the end of a line would be taken for something else. */
function toDirectory(path: string): string {
  return escapeSpecifiers(/[\s\\]$/.test(path) ? `${path}/` : path)
}

function toFile({ label }: ServiceSpec, path: string, encode: (path: string) => string): string {
  if (/[\s\\]$/.test(path)) throw unitError(label, `${path} ends in a space or a backslash`)
  return encode(path)
}
