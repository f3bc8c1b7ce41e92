import type { ComponentTool } from 'crabtalk/component'

export interface ClockSetting {
  /** Of this machine. */
  zone: string
  now(): number
}

/** All tools of the clock. */
export function clockTools({ zone, now }: ClockSetting): ComponentTool[] {
  return [{ name: 'now', description: 'The time.', run: () => `${new Date(now()).toISOString()} ${zone}` }]
}
