import { type Component, runComponent } from '../../../src/lib/component.ts'

// A component that crashes on request, or never ends a call.
const glass: Component = {
  name: 'glass',
  version: '1',
  description: 'Breaks',
  tools: [
    {
      name: 'break',
      description: 'Breaks the program behind the back of the call.',
      run() {
        setImmediate(() => {
          throw new Error('broken')
        })
        return 'soon'
      },
    },
    {
      name: 'hang',
      description: 'Goes on for ever.',
      run() {
        process.stderr.write('hanging\n')
        setInterval(() => undefined, 1000)
        return new Promise<string>(() => undefined)
      },
    },
  ],
}
await runComponent(glass, { graceMs: 10 })
