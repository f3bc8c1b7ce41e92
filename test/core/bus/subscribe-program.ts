import { busHome } from './bus-home.ts'

/** Adds COUNT subscriptions to a home and removes every second of them: `HOME NAME COUNT`. */
const [home = '', name = '', count = '0'] = process.argv.slice(2)
const never = new AbortController().signal
await using place = busHome(home)
const store = place.open()
for (let index = 0; index < Number(count); index++) {
  const { id } = await store.add({ source: `${name}:${index}`, target_agent: 'crab', once: false }, never)
  if (index % 2 === 1) await store.remove([id], never)
}
