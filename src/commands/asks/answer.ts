import { type DialogAnswers, type DialogReply, discardEarlyInput, runDialog } from '../../cli/ask/dialog.ts'
import { wantsColor } from '../../cli/color.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { CrabError } from '../../core/base/errors.ts'
import { parseObject } from '../../core/base/json.ts'
import { PERMISSION_ANSWERS } from '../../core/base/permission-answers.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { emptyAnswerText } from '../../core/questions/answer-kinds.ts'
import { fetchAsks } from './asks.ts'
import { findAsk, type WaitingAsk } from './find.ts'
import { readAnswers } from './read-answer.ts'
import { sendReply } from './reply.ts'

/**
 * Runs `crabtalk answer`: answers a question of any agent; without an id, the questions named on standard
 * input, one per line.
 */
export const answerAskCommand: CommandHandler = async ({ options, host, signal }) => {
  const [word, ...words] = options.args
  if (word === undefined) (await import('./answer-lines.ts')).checkInput(host)
  await using attached = await requireDaemon(host, { task: 'answer the question' }, signal)
  const { dispatch } = attached
  if (word === undefined || word === '-') {
    return await (await import('./answer-lines.ts')).answerFromLines({ host, dispatch }, signal)
  }
  const info = findAsk(await fetchAsks(dispatch, '', signal), word)
  const { answers, arguments: edited } = await chooseAnswers({ options, words, info, host }, signal)
  const args = edited ?? options.value('arguments')
  await sendReply(dispatch, { info, answers, host, ...(args !== undefined && { args }) }, signal)
  warnAboutRules(info, answers, host)
  if (info.ask.permission && words.join(' ').trim() === '5') {
    host.stderr.write(
      `crabtalk: no reason was given: crabtalk answer ${shortId(info.ask.askId)} 5 REASON gives one\n`,
    )
  }
  const answerTexts = Object.values(answers).map((one) =>
    one === '' ? emptyAnswerText(info.ask) : escapeLine(one),
  )
  host.stdout.write(`answered ${shortId(info.ask.askId)}: ${answerTexts.join(' · ')}\n`)
  return 0
}

/** Warns about a rule that the answer adds if it permits nearly anything. */
function warnAboutRules({ ask }: WaitingAsk, answers: DialogAnswers, { stderr }: Host): void {
  const isLasting = Object.values(answers).some((one) => LASTING.has(one))
  const warnings = isLasting ? (ask.permission?.warnings ?? []) : []
  for (const one of warnings) stderr.write(`crabtalk: warning: ${escapeLine(one)}\n`)
}

const LASTING: ReadonlySet<string> = new Set([PERMISSION_ANSWERS.session, PERMISSION_ANSWERS.always])

/** Returns the answers on the command line or, without any, those that the user types. */
async function chooseAnswers(
  {
    options,
    words,
    info,
    host,
  }: { options: ParsedOptions; words: readonly string[]; info: WaitingAsk; host: Host },
  signal: AbortSignal,
): Promise<DialogReply> {
  const content = options.value('content')
  if (content !== undefined && words.length > 0) {
    throw new CrabError('usage', 'Cannot combine --content and ANSWER', { hint: 'give only one of them' })
  }
  if (content !== undefined) return { answers: readContent(content) }
  if (words.length > 0) return { answers: readAnswers(words, info.ask) }
  return await promptForAnswer(info, host, signal)
}

function readContent(text: string): DialogAnswers {
  const content = parseObject(text)
  if (content) return content as DialogAnswers // the daemon reports what is wrong with it
  throw new CrabError('usage', 'Cannot use --content: it is not a JSON object', {
    hint: `for example --content '{"Which color?":"red"}'`,
  })
}

async function promptForAnswer(
  { ask, agent }: WaitingAsk,
  host: Host,
  signal: AbortSignal,
): Promise<DialogReply> {
  using terminal = host.terminal()
  if (!terminal) {
    throw new CrabError('usage', 'Cannot answer: no answer is given', {
      hint: `crabtalk answer ${shortId(ask.askId)} ANSWER, or run it on a terminal`,
    })
  }
  const { output } = terminal
  const style = { columns: host.columns(), color: wantsColor('auto', host.env, output) }
  terminal.forgetInput()
  const see = (until: AbortSignal) => discardEarlyInput(terminal, until)
  return await runDialog(ask, { terminal, style, agent, see }, signal)
}
