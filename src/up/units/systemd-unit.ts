import { toGuardLabel } from '../names.ts'
import type { ServiceSpec } from '../types.ts'
import { checkSpec, unitDescription, unitError } from './literal.ts'
import { SEAL, seal } from './seal.ts'

/**
 * Renders the systemd user unit of a service, for systemd 239 and newer (ADR 0131).
 *
 * The unit restarts a program that crashed, but not one that exits with 78 because its configuration is
 * wrong. It pulls in the guard of its home. Throws `invalid` when a value cannot be written in a unit.
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

/**
 * Renders the systemd user unit of a home's guard, which runs while any service of that home runs. Throws
 * like systemdUnit().
 */
export function systemdGuardUnit(spec: ServiceSpec): string {
  return toUnit(spec, { unit: 'StopWhenUnneeded=yes', end: '' })
}

/** Returns the name of the unit file of a label. */
export function unitName(label: string): string {
  return `${label}.service`
}

function toUnit(spec: ServiceSpec, { unit, end }: { unit: string; end: string }): string {
  checkSpec(spec)
  return seal(`# Managed by crabup (${SEAL}), which overwrites changes to this file.
# Put your own settings in a drop-in: systemctl --user edit ${unitName(spec.label)}
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

/** systemd refuses a program whose path has a quote or a backslash, so a shell executes it. */
function toCommand([program, ...rest]: ServiceSpec['argv']): string {
  const args = rest.map(quoteUnitArgument)
  if (/["'\\]/.test(program)) {
    return ['/bin/sh', '-c', quoteUnitArgument('exec "$0" "$@"'), quoteUnitArgument(program), ...args].join(
      ' ',
    )
  }
  if (!program.includes('$')) return [quoteUnitWord(program), ...args].join(' ')
  // systemd expands `$` in argv[0] but not in the path.
  return [`@${quoteUnitWord(program)}`, quoteUnitArgument(program), ...args].join(' ')
}

/**
 * A `/` is appended because systemd strips white space at the end of a line and treats a backslash there as a
 * continuation.
 */
function toDirectory(path: string): string {
  return escapeSpecifiers(/[\s\\]$/.test(path) ? `${path}/` : path)
}

function toFile({ label }: ServiceSpec, path: string, encode: (path: string) => string): string {
  if (/[\s\\]$/.test(path)) throw unitError(label, `${path} ends in a space or a backslash`)
  return encode(path)
}

/**
 * Quotes a word of `Environment=`: quotes and backslashes are syntax and `%` begins a specifier, but `$` is
 * literal (systemd.exec(5), systemd.syntax(7)).
 */
function quoteUnitWord(text: string): string {
  const escaped = escapeSpecifiers(text).replaceAll(/[\\"]/g, '\\$&')
  return PLAIN.test(text) ? text : `"${escaped}"`
}

/** Quotes an argument of `ExecStart=`, where `$` begins a variable as well (systemd.service(5)). */
function quoteUnitArgument(text: string): string {
  return quoteUnitWord(text).replaceAll('$', '$$$$')
}

/**
 * Escapes a path for settings that have specifiers but no quoting: `WorkingDirectory=`,
 * `StandardOutput=append:`.
 */
function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}

/**
 * Escapes a path for `EnvironmentFile=`, which is a glob pattern: an unescaped path may not match, and the
 * secrets would be missing.
 */
function toPattern(path: string): string {
  return escapeSpecifiers(path.replaceAll(/[\\*?[\]]/g, '\\$&'))
}

/** Characters that never need quoting where systemd splits a line into words. */
const PLAIN = /^[\p{L}\p{N}_/.:=,+@-]+$/u
