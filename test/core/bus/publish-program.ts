import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { busHome, openTestBus } from './bus-home.ts'

/** Publishes to `s0` to `s<COUNT - 1>` and records in HOME/fired what fires: `HOME COUNT`. */
const [home = '', count = '0'] = process.argv.slice(2)
await using place = busHome(home)
const { bus } = openTestBus(place.open(), {
  fire: async ({ sender }) => appendFileSync(join(home, 'fired'), `${sender}\n`),
})
for (let index = 0; index < Number(count); index++)
  await bus.publish({ source: `s${index}`, payload: 'p', runId: '', depth: 0 })
