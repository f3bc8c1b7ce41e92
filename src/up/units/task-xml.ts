import type { ServiceSpec } from '../types.ts'
import { checkSpec, unitDescription, unitError } from './literal.ts'
import { SEAL, seal } from './seal.ts'
import { toCommandLine } from './windows-command-line.ts'
import { toXmlText } from './xml.ts'

/** What a task needs besides the service. */
export interface TaskSettings {
  /** The loop that keeps the service running: a program, absolute, and its arguments. */
  action: readonly [string, ...string[]]
  /** Whose logon starts it: `DOMAIN\name`, or a SID. */
  userId: string
}

/** Windows' own host of console programs shows no window when asked so; a task itself cannot hide one. */
const HEADLESS = ['%SystemRoot%\\System32\\conhost.exe', '--headless'] as const

/**
 * The scheduled task of a service, as `schtasks /Create /XML` reads it (Task Scheduler schema 1.2): text, see toUtf16().
 *
 * Its action is a loop of our own, as a task is started again after a minute at the earliest, and cannot take variables,
 * files for output, or secrets. Fails with `invalid` when a value cannot stand in it.
 */
export function taskXml(spec: ServiceSpec, { action, userId }: TaskSettings): string {
  checkSpec({ ...spec, argv: action })
  checkExpansion(spec.label, [...action, spec.cwd])
  const [host, ...options] = HEADLESS
  const user = toXmlText(userId)
  return seal(`<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by crabup (${SEAL}), which writes it again when it has to. -->
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

/** As the Task Scheduler wants it, which takes UTF-8 for damage: UTF-16LE behind a byte order mark. */
export function toUtf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le')
}

/** The Task Scheduler puts in variables, and nothing escapes a percent sign. */
function checkExpansion(label: string, values: readonly string[]): void {
  const expanded = values.find((value) => /%[^%]+%/.test(value))
  if (expanded !== undefined) {
    throw unitError(label, `Windows would take what is between the percent signs for a variable: ${expanded}`)
  }
}
