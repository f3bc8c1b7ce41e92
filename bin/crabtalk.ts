import './jsx.ts'
import { programName } from './program.ts'
import { run } from './run.ts'

process.exitCode = await run(programName(process.argv[1]))
