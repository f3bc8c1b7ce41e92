import { runComponent } from 'crabtalk/component'
import about from '../package.json' with { type: 'json' }
import { timeTools } from './time-tools.ts'
import { timerTools } from './timer-tools.ts'

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
const setting = { zone: timeZone, now: Date.now }
await runComponent({
  name: 'clock',
  version: about.version,
  description: `Tells the time in any time zone, converts and calculates times, and runs timers. This machine is in the time zone ${timeZone}.`,
  tools: [...timeTools(setting), ...timerTools(setting)],
})
