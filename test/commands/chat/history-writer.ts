import { appendSentHistory } from '../../../src/commands/chat/history-file.ts'

const [file, name, count] = process.argv.slice(2) as [string, string, string]
for (let index = 0; index < Number(count); index++)
  await appendSentHistory(file, { text: `${name}${index}`, pasted: [] })
