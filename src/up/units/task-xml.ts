import type { ServiceSpec } from '../types.ts'
import { checkSpec, unitDescription, unitError } from './literal.ts'
import { SEAL, seal } from './seal.ts'
import { toXmlText } from './xml.ts'

/** The settings of a task that do not come from the service. */
interface TaskSettings {
  /** The loop that keeps the service running: an absolute program and its arguments. */
  action: readonly [string, ...string[]]
  /** The user whose logon starts the task: `DOMAIN\name`, or a SID. */
  userId: string
}

/**
 * Renders the scheduled task of a service as text for `schtasks /Create /XML` (Task Scheduler schema 1.2);
 * see toUtf16().
 *
 * Its action is crabup's own loop, because a task restarts after a minute at the earliest and supports
 * neither environment variables nor output files nor secrets. Throws `invalid` when a value cannot be written
 * in it.
 */
export function taskXml(spec: ServiceSpec, { action, userId }: TaskSettings): string {
  checkSpec({ ...spec, argv: action })
  checkExpansion(spec.label, [...action, spec.cwd])
  const [host, ...options] = HEADLESS
  const user = toXmlText(userId)
  return seal(`<?xml version="1.0" encoding="UTF-16"?>
<!-- Managed by crabup (${SEAL}), which overwrites changes to this file. -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${toXmlText(unitDescription(spec))}</Description>
    <URI>\\${toXmlText(spec.label)}</URI>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <IdleSettings>
      <StopOnIdleEnd>false</StopOnIdleEnd>
      <RestartOnIdle>false</RestartOnIdle>
    </IdleSettings>
    <AllowStartOnDemand>true</AllowStartOnDemand>
    <Enabled>true</Enabled>
    <Hidden>false</Hidden>
    <RunOnlyIfIdle>false</RunOnlyIfIdle>
    <WakeToRun>false</WakeToRun>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${host}</Command>
      <Arguments>${toXmlText(toCommandLine([...options, ...action]))}</Arguments>
      <WorkingDirectory>${toXmlText(spec.cwd)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`)
}

/** Encodes a text as UTF-16LE with a byte order mark and CRLF; the Task Scheduler rejects UTF-8. */
export function toUtf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le')
}

/**
 * Joins arguments into one Windows command line that CommandLineToArgvW and the C runtime split into the same
 * words.
 *
 * Not for the program name, in which a backslash is never an escape.
 */
export function toCommandLine(args: readonly string[]): string {
  return args.map(quote).join(' ')
}

/** The Task Scheduler expands variables, and a percent sign cannot be escaped. */
function checkExpansion(label: string, values: readonly string[]): void {
  const expanded = values.find((value) => /%[^%]+%/.test(value))
  if (expanded !== undefined) {
    throw unitError(label, `Windows would expand the part between the percent signs: ${expanded}`)
  }
}

/** Quotes an argument. Backslashes are escapes only before a quote, including the closing one. */
function quote(arg: string): string {
  if (arg !== '' && !/[\s"]/.test(arg)) return arg
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
}

/** The console host of Windows hides the window with this option; a task cannot hide one. */
const HEADLESS = ['%SystemRoot%\\System32\\conhost.exe', '--headless'] as const
