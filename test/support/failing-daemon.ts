import '../../bin/jsx.ts'
import { run } from '../../bin/run.ts'

// A crabtalk that fails as nobody has foreseen: SIGUSR2 is a promise that nobody awaits, or throws where nobody catches.
process.on('SIGUSR2', () => {
  if (process.env['FAILURE'] === 'thrown') throw new Error('boom')
  void Promise.reject(new Error('boom'))
})
process.exitCode = await run('crabtalk')
