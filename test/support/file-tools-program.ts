import { type Call, fileTools } from './file-tools.ts'

/** A process that calls file tools, one after the other, and prints the answers as JSON. */
const tools = fileTools(process.argv[2]!)
const answers: string[] = []
for (const [name, args] of JSON.parse(process.argv[3]!) as Call[]) answers.push(await tools.say(name, args))
process.stdout.write(JSON.stringify(answers))
