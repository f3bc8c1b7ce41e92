import { runComponent } from '../../../src/lib/component.ts'

// A component that breaks when it is told to.
await runComponent({
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
  ],
})
