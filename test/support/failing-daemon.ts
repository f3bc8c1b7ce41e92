import '../../bin/jsx.ts'
import { run } from '../../bin/run.ts'

// Runs crabtalk with an unforeseen failure: SIGUSR2 rejects a promise without a handler, or throws outside any
// try block.
process.on('SIGUSR2', () => {
  if (process.env['FAILURE'] === 'thrown') throw new Error('boom')
  void Promise.reject(new Error('boom'))
})
process.exitCode = await run('crabtalk')
