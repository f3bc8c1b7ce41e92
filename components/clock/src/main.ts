import { runComponent } from 'crabtalk/component'
import about from '../package.json' with { type: 'json' }
import { clockTools } from './clock-tools.ts'

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
await runComponent({
  name: 'clock',
  version: about.version,
  description: `Tells the time anywhere, converts and calculates times, and runs timers. This machine is in the time zone ${zone}.`,
  tools: clockTools({ zone, now: Date.now }),
})
