/**
 * Detects the platform and architecture of an executable, such as `linux-x64`, from its first KB; undefined
 * when unknown.
 */
export function detectMachine(head: Buffer): string | undefined {
  try {
    return elfMachine(head) ?? appleMachine(head) ?? windowsMachine(head)
  } catch {
    return undefined // it ends too early
  }
}

function elfMachine(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 4) !== '\x7fELF') return undefined
  return toMachine('linux', { 62: 'x64', 183: 'arm64' }[head.readUInt16LE(18)])
}

function appleMachine(head: Buffer): string | undefined {
  if (head.readUInt32LE(0) !== 0xfeedfacf) return undefined
  return toMachine('darwin', { 16777223: 'x64', 16777228: 'arm64' }[head.readUInt32LE(4)])
}

function windowsMachine(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 2) !== 'MZ') return undefined
  const machine = head.readUInt32LE(0x3c) + 4
  return toMachine('win32', { 34404: 'x64', 43620: 'arm64' }[head.readUInt16LE(machine)])
}

function toMachine(system: string, processor: string | undefined): string | undefined {
  return processor && `${system}-${processor}`
}
