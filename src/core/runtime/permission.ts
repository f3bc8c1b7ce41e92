import { resolve } from 'node:path'
import { abortable } from '../base/abortable.ts'
import { CrabError } from '../base/errors.ts'
import type { ToolCall } from '../base/message.ts'
import { PERMISSION_ANSWERS } from '../base/permission-answers.ts'
import { Serial } from '../base/serial.ts'
import { takeStart } from '../base/truncate.ts'
import { CLASS_RIGHTS } from '../policy/class-rights.ts'
import { decide } from '../policy/decide.ts'
import { searchFilter } from '../policy/search-filter.ts'
import type {
  ApprovalMode,
  Decision,
  PolicyAction,
  PolicyContext,
  Rule,
  SeenVersions,
} from '../policy/types.ts'
import { warnAboutOffered } from '../policy/wide-rules.ts'
import type { PermissionDecision } from '../storage/types.ts'
import type { AskEnd, Denial, PermissionAsk } from './asks.ts'
import { toGrant } from './conversation.ts'
import type { TurnAsks } from './turn-asks.ts'

/** The dependencies of the permission checks of one turn. */
export interface PermissionsOptions {
  /** The policy context; the paths in its rules are resolved. */
  context: PolicyContext
  /** The versions of the files that the conversation has seen so far. */
  seen: SeenVersions
  asks: TurnAsks
  /** Stores a decision with the conversation; durable when it resolves. */
  record(decision: PermissionDecision): Promise<void>
  /** Adds a rule to the agent's file. */
  addRule(rule: string): Promise<void>
  notice(message: string): void
}

/** A call that the user has allowed with other arguments. */
export interface EditedCall {
  /** JSON text of an object. */
  arguments: string
  /** The sender that changed it. */
  by: string
}

/** A tool call to be judged. */
interface CallToJudge {
  call: ToolCall
  action: PolicyAction
  /** Resolves when the earlier calls of the step have ended: they may change what this one finds. */
  earlier: Promise<unknown>
}

/** Permits the tool calls of one turn, by rule or by asking a person. */
export class Permissions {
  readonly #options: PermissionsOptions
  readonly #rules: Rule[]
  #mode: ApprovalMode
  #filter: ((path: string) => boolean) | undefined
  /**
   * Serializes questions: a person is asked one thing at a time, and one answer may settle those that wait
   * behind it.
   */
  readonly #questions = new Serial()
  /** The calls whose diff a question has shown. */
  readonly #previewed = new WeakSet<ToolCall>()

  constructor(options: PermissionsOptions) {
    this.#options = options
    this.#rules = [...options.context.rules]
    this.#mode = options.context.mode
  }

  /** The current mode, which changes when the user accepts a plan or allows edits. */
  get mode(): ApprovalMode {
    return this.#mode
  }

  /** Whether a question has shown the diff of this call; false for a call that the user has changed. */
  hasShownDiff(call: ToolCall): boolean {
    return this.#previewed.has(call)
  }

  /** Continues in another mode when the turn is in plan mode; otherwise does nothing. */
  leavePlanMode(mode: 'ask' | 'edits'): void {
    if (this.#mode === 'plan') this.#mode = mode
  }

  /**
   * Returns undefined when the call is permitted, or how the user has changed it; a changed call needs
   * permitEdited(). Every decision is recorded before it takes effect.
   *
   * A change of a file waits for the earlier calls of its step before a local user is asked about it. It is
   * then tried out first, and throws the error it would fail with instead of asking.
   */
  async permit(judged: CallToJudge, signal: AbortSignal): Promise<Denial | EditedCall | undefined> {
    const { call, action } = judged
    const decision = this.#decide(action)
    if (decision.effect !== 'ask') return this.#settle(call, action, decision)
    // No deadlock: they never wait for a later call.
    if (this.#isTriedOut(action)) await abortable(judged.earlier, signal)
    return this.#questions.run(() => {
      signal.throwIfAborted()
      const again = this.#decide(action) // an answer given in the meantime may also cover this call
      return again.effect === 'ask' ? this.#ask(judged, again, signal) : this.#settle(call, action, again)
    })
  }

  /**
   * Judges a call that the user has changed, and returns undefined when it may run: the user allows what the
   * rules would ask about, but not what they deny.
   */
  async permitEdited(call: ToolCall, action: PolicyAction, by: string): Promise<Denial | undefined> {
    const decision = this.#decide(action)
    if (decision.effect === 'deny') return this.#settle(call, action, decision)
    const reason = `${by} changed it and allowed it`
    await this.#record(call, action, { effect: 'allow', by: 'person', reason, arguments: call.arguments })
    return undefined
  }

  /** Whether a search of a readable folder may show this file in it; the path is absolute, without links. */
  mayShow(path: string): boolean {
    this.#filter ??= searchFilter(this.#context)
    return this.#filter(path)
  }

  get #context(): PolicyContext {
    return { ...this.#options.context, mode: this.#mode, rules: this.#rules }
  }

  #decide(action: PolicyAction): Decision {
    return decide(action, this.#context)
  }

  async #settle(call: ToolCall, action: PolicyAction, decision: Decision): Promise<Denial | undefined> {
    const { rule, reason } = decision
    const effect = decision.effect === 'allow' ? 'allow' : 'deny'
    const by = rule ? 'rule' : 'default'
    await this.#record(call, action, {
      effect,
      by,
      reason,
      ...(rule && { rule: rule.pattern, source: rule.source }),
    })
    if (effect === 'allow') return undefined
    return { action: this.#describe(action), reason, rules: decision.suggestions, by: 'rule' }
  }

  async #ask(
    judged: CallToJudge,
    decision: Decision,
    signal: AbortSignal,
  ): Promise<Denial | EditedCall | undefined> {
    const { call, action } = judged
    const permission = await this.#toAsk(judged, decision)
    const question = `Allow ${permission.action}?`
    const offersEdits = this.#offersEdits(action)
    const { project } = toRemoteNames(action)
    const lasting = { rules: permission.rules, offersEdits, isSavable: decision.isSavable, project }
    const options = toOptions(lasting)
    const questions = [{ question, header: 'Permission', options, multiSelect: false }]
    const end = await this.#options.asks.put({ kind: 'permission', questions, permission }, signal)
    const answer = end?.answers?.[question]
    const denial = { action: permission.action, rules: decision.suggestions }
    if (answer === undefined) {
      const reason = `${decision.reason}, and ${end ? 'no one answered' : 'no one can be asked'}`
      await this.#record(call, action, { effect: 'deny', by: 'nobody', reason })
      return { ...denial, reason, by: 'nobody' }
    }
    const { by, arguments: args } = end!
    if (args !== undefined) return { arguments: args, by }
    const reason = await this.#take(call, action, { ...lasting, answer, by })
    return reason === undefined ? undefined : { ...denial, reason, by: 'person' }
  }

  /** Applies a person's answer; returns the reason when it is a refusal. */
  async #take(
    call: ToolCall,
    action: PolicyAction,
    { answer, rules, offersEdits, isSavable, by }: LastingAnswers & { answer: string; by: AskEnd['by'] },
  ): Promise<string | undefined> {
    const { once, session, edits, always, no } = PERMISSION_ANSWERS
    const allowsEdits = offersEdits && answer === edits
    const grant =
      rules.length === 0
        ? undefined
        : answer === session
          ? 'session'
          : answer === always && isSavable
            ? 'always'
            : undefined
    if (grant === undefined && answer !== once && !allowsEdits) {
      const reason = answer === no || answer === '' ? 'the user said no' : `the user said no: ${answer}`
      await this.#record(call, action, { effect: 'deny', by: 'person', reason })
      return reason
    }
    const reason = allowsEdits ? `${by} allowed edits in this directory` : `${by} allowed it`
    await this.#record(call, action, {
      effect: 'allow',
      by: 'person',
      reason,
      ...(grant && { grant, rules: [...rules] }),
    })
    if (grant === 'always') for (const rule of rules) await this.#remember(rule)
    const { project } = toRemoteNames(action)
    if (grant) this.#rules.push(...rules.map((pattern) => toGrant(pattern, project)))
    if (allowsEdits) this.#mode = 'edits'
    return undefined
  }

  /** Whether the user can allow a change of a file, and all that follow in the turn, by the mode `edits`. */
  #offersEdits(action: PolicyAction): boolean {
    if (action.kind !== 'edit' || this.#mode !== 'ask') return false
    if (!CLASS_RIGHTS[this.#options.context.trust].canWiden) return false
    return decide(action, { ...this.#context, mode: 'edits' }).effect === 'allow'
  }

  async #remember(rule: string): Promise<void> {
    const { addRule, notice } = this.#options
    await addRule(rule).catch((reason: unknown) => {
      const why = reason instanceof CrabError ? reason.message : String(reason)
      notice(`The rule ${rule} applies to this turn only: ${why}`)
    })
  }

  /** Describes in words what a call would do. */
  #describe(action: PolicyAction, call?: ToolCall): string {
    switch (action.kind) {
      case 'read':
      case 'edit': {
        const isPlain = action.path === resolve(this.#options.context.workspace, action.shown)
        return `${action.kind} ${action.shown}${isPlain ? '' : `, which is ${action.path}`}`
      }
      case 'bash':
        return `bash: ${action.command}`
      default:
        return call ? `${action.name} ${takeStart(call.arguments, MAX_SHOWN)}` : action.name
    }
  }

  async #record(
    call: ToolCall,
    action: PolicyAction,
    decision: Omit<PermissionDecision, 'call_id' | 'name'>,
  ): Promise<void> {
    await this.#options.record({ call_id: call.id, name: call.name, ...toRemoteNames(action), ...decision })
  }

  async #toAsk(judged: CallToJudge, decision: Decision): Promise<PermissionAsk> {
    const { call, action } = judged
    const { offered, commands = [] } = decision
    const reason = commands.length === 1 ? commands[0]!.reason : decision.reason
    const { canWiden } = CLASS_RIGHTS[this.#options.context.trust] // otherwise no grant would take effect
    const rules = canWiden ? offered : []
    return {
      callId: call.id,
      tool: call.name,
      server: action.kind === 'mcp' ? action.server : '',
      arguments: call.arguments,
      action: this.#describe(action, call),
      cwd: this.#options.context.workspace,
      diff: await this.#renderDiff(judged),
      reason,
      rules,
      commands,
      warnings: [...rules.flatMap(warnAboutOffered), ...decision.warnings],
      editable: canWiden,
    }
  }

  /**
   * Whether a call is tried out before a person is asked, and refused if it would fail. A change of a file
   * that the agent may not read is not tried out: the failure would reveal what is in it.
   */
  #isTriedOut(action: PolicyAction): boolean {
    if (action.kind !== 'edit' || this.#options.context.trust !== 'local') return false
    const { path, shown } = action
    if (this.#options.seen.get(path) !== undefined) return true
    return this.#decide({ kind: 'read', path, shown }).effect === 'allow'
  }

  async #renderDiff({ call, action }: CallToJudge): Promise<string> {
    if (action.kind !== 'edit' || !action.diff) return ''
    const isTriedOut = this.#isTriedOut(action)
    try {
      const diff = await action.diff(isTriedOut ? this.#options.seen : undefined)
      this.#previewed.add(call)
      return diff
    } catch (reason) {
      if (isTriedOut || !(reason instanceof CrabError)) throw reason
      return `This would fail. ${reason.message}\n`
    }
  }
}

/** Returns what is stored of the server of a call. */
function toRemoteNames(action: PolicyAction): Pick<PermissionDecision, 'server' | 'tool' | 'project'> {
  if (action.kind !== 'mcp') return {}
  const { server, tool, project } = action
  return { server, tool, ...(project && { project }) }
}

/** The answers to a question that allow more than the call. */
interface LastingAnswers {
  /** The rules that an answer adds for the conversation, or to the agent's file if they are savable. */
  rules: readonly string[]
  isSavable: boolean
  offersEdits: boolean
  /** The project's file that declares the server, if one does: the rules hold for that content only. */
  project: PermissionDecision['project']
}

/**
 * Builds the options of the question, the refusal first: a client that selects its first row must not allow a
 * call by a stray Enter.
 */
function toOptions({
  rules,
  offersEdits,
  isSavable,
  project,
}: LastingAnswers): { label: string; description: string }[] {
  const rule = rules.join(' and ')
  const { once, session, edits, always, no } = PERMISSION_ANSWERS
  const until = `until this conversation ends${project ? `, or ${project.file} changes` : ''}`
  const inConversation = { label: session, description: `allows ${rule} ${until}` }
  return [
    { label: no, description: 'refuses it; any other text refuses it and tells the agent why' },
    { label: once, description: 'allows this call' },
    ...(offersEdits
      ? [{ label: edits, description: 'allows this call and all edits in the directory' }]
      : []),
    ...(rules.length === 0 || offersEdits ? [] : [inConversation]),
    ...(rules.length === 0 || !isSavable
      ? []
      : [{ label: always, description: `writes ${rule} into the agent's file` }]),
  ]
}

/** The most characters of a call's arguments that are shown, in UTF-16 units. */
const MAX_SHOWN = 2_000
