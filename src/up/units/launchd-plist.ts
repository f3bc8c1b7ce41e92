import type { ServiceSpec } from '../types.ts'
import { checkSpec } from './literal.ts'
import { SEAL, seal } from './seal.ts'
import { toXmlText } from './xml.ts'

/** The launchd domain of a job: `gui` ends at logout from the desktop, `user` serves logins over ssh. */
export type LaunchdDomain = 'gui' | 'user'

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value }

/**
 * Renders the launchd job of a service for ~/Library/LaunchAgents (launchd.plist(5)).
 *
 * The job is limited to the sessions of one domain; in both, it would run twice. Secrets must not be in it,
 * so the program reads its own `--env-file`. Throws `invalid` when a value cannot be written in XML.
 */
export function launchdPlist(spec: ServiceSpec, domain: LaunchdDomain): string {
  checkSpec(spec)
  const job: Value = {
    Label: spec.label,
    ProgramArguments: spec.argv,
    WorkingDirectory: spec.cwd,
    EnvironmentVariables: spec.env,
    StandardOutPath: spec.output,
    StandardErrorPath: spec.output,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 20,
    ProcessType: 'Interactive',
    SoftResourceLimits: { NumberOfFiles: 8192 },
    LimitLoadToSessionType: domain === 'gui' ? 'Aqua' : 'Background',
  }
  return seal(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Managed by crabup (${SEAL}), which overwrites changes to this file. -->
<plist version="1.0">
${toElement(job, '')}
</plist>
`)
}

function toElement(value: Value, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${toXmlText(value)}</string>`
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>`
  if (typeof value === 'boolean') return `${indent}<${value}/>`
  const inner = `${indent}  `
  if (isList(value)) {
    return wrap(
      'array',
      value.map((item) => toElement(item, inner)),
      indent,
    )
  }
  const entries = Object.entries(value)
  return wrap(
    'dict',
    entries.map(([key, item]) => `${inner}<key>${toXmlText(key)}</key>\n${toElement(item, inner)}`),
    indent,
  )
}

function wrap(tag: string, items: readonly string[], indent: string): string {
  return items.length === 0
    ? `${indent}<${tag}/>`
    : `${indent}<${tag}>\n${items.join('\n')}\n${indent}</${tag}>`
}

function isList(value: Value): value is readonly string[] {
  return Array.isArray(value)
}
