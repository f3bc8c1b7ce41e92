import { writeFileSync } from 'node:fs'

// The first import of a group of test files: notes beside the group when its process begins, and when it ends
// other than by a signal.
const [, path = ''] = process.argv
writeFileSync(`${path}.begun`, '')
process.on('exit', () => writeFileSync(`${path}.ended`, ''))
